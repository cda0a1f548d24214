// Draws tables of bars over time as columns, with uPlot. Without it the tables stay.
"use strict";

(() => {
  const FONT = '11px Inter, ui-sans-serif, system-ui, sans-serif';
  const HEIGHT = { wide: 220, narrow: 200 };
  const NARROW = 520;

  const rows = (box) =>
    [...box.querySelectorAll("tbody tr")].map((row) => {
      const name = row.querySelector("[data-x]");
      const value = row.querySelector("[data-y]");
      return {
        label: name.dataset.x,
        name: name.textContent.trim(),
        text: value.querySelector(".num").textContent.trim(),
        value: Number(value.dataset.y),
        path: name.querySelector("a")?.href,
        isNow: row.classList.contains("now"),
      };
    });

  const colors = (plot) => {
    const style = getComputedStyle(plot);
    return { text: style.color, grid: style.borderTopColor, now: style.fill, past: style.stroke };
  };

  // Few columns are labelled each; of many, so many that no label touches the next one.
  const splits = (count, width, labelWidth) => {
    const most = Math.max(1, Math.floor(width / labelWidth));
    const step = Math.max(1, Math.ceil(count / most));
    const found = [];
    for (let place = count - 1; place >= 0; place -= step) found.unshift(place);
    return found;
  };

  const short = new Intl.NumberFormat(document.documentElement.lang || "en", {
    notation: "compact",
    maximumFractionDigits: 1,
  });

  const draw = (box) => {
    const plot = box.querySelector(".plot");
    const points = rows(box);
    const currency = box.dataset.currency;
    const isAllPast = !points.some((one) => one.isNow);
    let chart;
    let hovered = null;

    const tip = document.createElement("div");
    tip.className = "tip";
    tip.hidden = true;

    const show = (place) => {
      hovered = place;
      tip.hidden = place === null;
      if (place === null) return;
      const one = points[place];
      tip.textContent = `${one.name}: ${one.text}${currency ? ` ${currency}` : ""}`;
      const middle = chart.valToPos(place, "x") + chart.over.offsetLeft;
      const half = tip.offsetWidth / 2;
      tip.style.left = `${Math.min(Math.max(middle, half), plot.clientWidth - half)}px`;
    };

    const build = () => {
      chart?.destroy();
      const color = colors(plot);
      const width = plot.clientWidth;
      const fill = points.map((one) => (one.isNow || isAllPast ? color.now : color.past));
      const labelWidth = Math.max(...points.map((one) => one.label.length)) * 6.5 + 10;
      // Room for the half of the last label that its column leaves out.
      const right = Math.max(0, (labelWidth - (width - 48) / points.length) / 2);
      chart = new uPlot(
        {
          width,
          height: width < NARROW ? HEIGHT.narrow : HEIGHT.wide,
          padding: [12, right, 0, 0],
          legend: { show: false },
          cursor: { x: false, y: false, drag: { setScale: false }, points: { show: false } },
          scales: {
            x: { time: false, range: [-0.5, points.length - 0.5] },
            y: { range: (_, least, most) => [Math.min(0, least), most > 0 ? most * 1.04 : 1] },
          },
          axes: [
            {
              font: FONT,
              stroke: color.text,
              grid: { show: false },
              ticks: { show: false },
              size: 26,
              gap: 6,
              splits: () => splits(points.length, width - 48, labelWidth),
              values: (_, places) => places.map((place) => points[place]?.label ?? ""),
            },
            {
              font: FONT,
              stroke: color.text,
              grid: { stroke: color.grid, width: 1 },
              ticks: { show: false },
              size: 48,
              gap: 6,
              space: 40,
              incrs: currency ? undefined : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 1e4, 1e5, 1e6],
              values: (_, ticks) => ticks.map((tick) => short.format(tick)),
            },
          ],
          series: [
            {},
            {
              fill: color.now,
              width: 0,
              points: { show: false },
              paths: uPlot.paths.bars({
                size: [0.62, 44],
                radius: 0.12,
                disp: { fill: { unit: 3, values: () => fill } },
              }),
            },
          ],
          hooks: {
            setCursor: [
              (drawn) => show(drawn.cursor.left >= 0 ? (drawn.cursor.idx ?? null) : null),
            ],
          },
        },
        [points.map((_, place) => place), points.map((one) => one.value)],
        plot,
      );
      plot.append(tip);
      chart.over.addEventListener("click", () => {
        const path = hovered === null ? undefined : points[hovered].path;
        if (path) location.assign(path);
      });
    };

    plot.hidden = false;
    box.classList.add("drawn");
    build();
    let known = plot.clientWidth;
    new ResizeObserver(() => {
      if (plot.clientWidth === known) return;
      known = plot.clientWidth;
      build();
    }).observe(plot);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", build);
  };

  if (typeof uPlot === "undefined") return;
  for (const box of document.querySelectorAll("[data-chart]")) draw(box);
})();
