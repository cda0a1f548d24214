// Conveniences of the review page: linked boxes and fields, zoom. It works without them.
"use strict";

(() => {
  const review = document.querySelector("[data-review]");
  const doc = review.querySelector(".doc");
  const all = (selector) => [...review.querySelectorAll(selector)];
  const boxOf = (name) => document.getElementById(`box-${name}`);
  const rowsOf = (name) => all(`[data-f="${CSS.escape(name)}"]`);
  const inputOf = (row) => row?.querySelector("input:not([type=hidden]), select");

  // The document is scrolled to the box of a field: at once to the one with the focus, and to the
  // one under the pointer once it rests there, so that crossing the fields moves nothing.
  const REST_MS = 200;
  let rest = 0;
  const show = (name) => boxOf(name)?.scrollIntoView({ block: "nearest", inline: "nearest" });
  // The field whose box was clicked last, as long as no other one has the focus.
  let clicked = null;

  // A field lights up its box, and a box its field.
  const light = (name, isOn) => {
    boxOf(name)?.classList.toggle("on", isOn);
    for (const row of rowsOf(name)) row.classList.toggle("on", isOn);
  };
  const link = (element, name) => {
    element.addEventListener("mouseenter", () => light(name, true));
    element.addEventListener("mouseleave", () => light(name, false));
  };
  for (const row of all("[data-f]")) {
    const name = row.dataset.f;
    link(row, name);
    row.addEventListener("mouseenter", () => {
      clearTimeout(rest);
      rest = setTimeout(show, REST_MS, name);
    });
    row.addEventListener("mouseleave", () => clearTimeout(rest));
    row.addEventListener("focusin", () => {
      light(name, true);
      show(name);
      if (name !== clicked) clicked = null;
    });
    row.addEventListener("focusout", () => light(name, false));
  }

  // The boxes at the place of a click, the topmost first. Another click leads to the next of them.
  const boxesAt = ({ clientX, clientY }) => {
    const found = document.elementsFromPoint(clientX, clientY).map((one) => one.closest(".box"));
    return [...new Set(found)].filter(Boolean);
  };
  const boxToOpen = (box, event) => {
    // A click by keyboard has no place.
    const found = event.detail ? boxesAt(event) : [box];
    const at = found.findIndex((one) => one.dataset.b === clicked);
    return found[(at + 1) % found.length] ?? box;
  };
  for (const box of all(".box")) {
    link(box, box.dataset.b);
    box.addEventListener("click", (event) => {
      const { b: name } = boxToOpen(box, event).dataset;
      const input = inputOf(rowsOf(name)[0]);
      if (!input) return;
      event.preventDefault();
      clicked = name;
      input.focus();
      input.select?.();
    });
  }

  // A field that has the focus shows its box, so that Tab leads from field to field.
  for (const link of all(".find, .crop")) link.tabIndex = -1;

  // The tools of the document; without this file they are links.
  const zooms = ["100", "150", "200", "300"];
  const zoom = (steps) => {
    const at = zooms.indexOf(doc.dataset.zoom) + steps;
    doc.dataset.zoom = zooms[Math.max(0, Math.min(zooms.length - 1, at))];
    review.querySelector("[data-zoom-now]").textContent = `${doc.dataset.zoom}%`;
    const row = document.activeElement.closest("[data-f]");
    if (row) show(row.dataset.f);
  };
  const rotate = () => {
    const turn = (Number(doc.dataset.turn) + 90) % 360;
    doc.dataset.turn = String(turn);
    for (const page of all("svg.page")) {
      const { width, height } = page.dataset;
      const isSideways = turn % 180 === 90;
      const moves = {
        0: "",
        90: `translate(${height} 0) rotate(90)`,
        180: `translate(${width} ${height}) rotate(180)`,
        270: `translate(0 ${width}) rotate(270)`,
      };
      page.setAttribute("viewBox", `0 0 ${isSideways ? height : width} ${isSideways ? width : height}`);
      page.querySelector("g").setAttribute("transform", moves[turn]);
    }
  };
  for (const tool of all("[data-zoom-by]")) {
    tool.addEventListener("click", (event) => {
      event.preventDefault();
      zoom(Number(tool.dataset.zoomBy));
    });
  }
  review.querySelector("[data-rotate]")?.addEventListener("click", (event) => {
    event.preventDefault();
    rotate();
  });
})();
