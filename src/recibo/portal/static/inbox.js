// The inbox: select all, and keys.
"use strict";

(() => {
  const find = (selector, within = document) => within.querySelector(selector);

  // Selection. The parts of the page are replaced while receipts are read.
  const boxes = () => [...document.querySelectorAll(".inbox tbody [name=id]")];
  const reveal = (page) => find("[data-all]", page)?.removeAttribute("hidden");
  const count = () => {
    const all = find("[data-all]");
    const checked = boxes().filter((box) => box.checked).length;
    if (all) {
      all.checked = checked > 0 && checked === boxes().length;
      all.indeterminate = checked > 0 && !all.checked;
    }
    const output = find("[data-count]");
    if (output) output.textContent = checked ? output.dataset.count.replace("{}", checked) : "";
  };
  document.addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) {
      for (const box of boxes()) box.checked = event.target.checked;
    }
    if (event.target.matches(".inbox [type=checkbox]")) count();
  });
  document.addEventListener("recibo:loaded", ({ detail: page }) => reveal(page));
  document.addEventListener("recibo:shown", count);
  reveal(document);
  count();

  // Single keys; see the dialog that `?` opens.
  const links = () => [...document.querySelectorAll(".inbox .m-link")];
  const focused = () => links().find((link) => link.closest("tr").contains(document.activeElement));
  const move = (by) => {
    const all = links();
    const at = all.indexOf(focused());
    all[at < 0 ? 0 : Math.min(Math.max(at + by, 0), all.length - 1)]?.focus();
  };
  const select = () => focused() && find("[name=id]", focused().closest("tr")).click();
  const approve = () => {
    if (!boxes().some((box) => box.checked)) select();
    if (boxes().some((box) => box.checked)) find('[formaction$="/selection/approve"]')?.click();
  };
  const keys = {
    j: () => move(1),
    k: () => move(-1),
    x: select,
    a: approve,
    u: () => find("[data-upload]")?.click(),
    "/": () => find("#q").focus(),
  };
  const openTab = (number) => document.querySelectorAll("#tabs a")[number - 1]?.click();
  const actOf = (key) =>
    /^[1-9]$/.test(key) ? () => openTab(Number(key)) : keys[key.toLowerCase()];
  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (target.matches("input:not([type=checkbox]), select, textarea")) return;
    // Behind an open dialog nothing happens.
    if (document.querySelector(":popover-open")) return;
    const act = "noKeys" in document.body.dataset ? null : actOf(key);
    if (!act) return;
    event.preventDefault();
    act();
  });

  // A search without empty fields has a short address.
  const search = find(".tools");
  search?.addEventListener("submit", () => {
    for (const field of search.elements) field.disabled = field.name && !field.value;
  });
  addEventListener("pageshow", () => {
    for (const field of search?.elements ?? []) field.disabled = false;
  });
})();
