// The keys of the review page: to what is in doubt, to a part of the form, to approve. It works without them.
"use strict";

(() => {
  const review = document.querySelector("[data-review]");
  const all = (selector) => [...review.querySelectorAll(selector)];
  const press = (selector) => review.querySelector(selector)?.click();
  const inputOf = (row) => row?.querySelector("input:not([type=hidden]), select") ?? null;
  const focus = (target) => {
    target?.focus();
    target?.select?.();
  };

  // The first amount of a list; without entries, the empty row for a new one.
  const AMOUNTS = { item: "total", tax: "amount", payment: "amount" };
  const PREFIXES = { line_items: "item", taxes: "tax", payments: "payment" };
  const amountOf = (prefix) => {
    const cell = document.getElementById(`${prefix}-0-${AMOUNTS[prefix]}`);
    const fresh = cell?.closest("tbody.new");
    return fresh ? inputOf(fresh) : cell;
  };

  // What to do about a check: its field, what its items lack, or where one looks first.
  const placeOf = (check) => {
    const place = inputOf(check) ?? check.querySelector("[data-missing], .dup .btn");
    if (place) return place;
    const prefix = PREFIXES[check.dataset.f];
    if (!prefix) return document.getElementById("merchant_name");
    return all(`.doubted[data-f^="${prefix}-"]`).length ? null : amountOf(prefix);
  };
  // The check of a list is settled for all of its rows.
  const isOpen = (row) => {
    const list = Object.keys(PREFIXES).find((name) => row.dataset.f.startsWith(`${PREFIXES[name]}-`));
    return !review.querySelector(`.chk.settled[data-f="${list}"]`);
  };
  const OFF = '[data-sums][data-state="off"]';
  // What is settled keeps its place in the order.
  const doubts = () => {
    const checks = all(".chk").map((one) => [placeOf(one), !one.classList.contains("settled")]);
    const rows = all(".items .doubted").map((one) => [inputOf(one), isOpen(one)]);
    const unnamed = all(OFF)
      .map((one) => one.dataset.sums)
      .filter((field) => !review.querySelector(`.chk[data-f="${field}"]`));
    const sums = unnamed.map((field) => [
      field in PREFIXES ? amountOf(PREFIXES[field]) : document.getElementById(field),
      true,
    ]);
    return [...checks, ...rows, ...sums].filter(([place]) => place);
  };

  // Where a key has led, until one does anything there: another key leads on, and types nothing.
  let reached = null;
  let isByN = false;
  const lead = (target) => {
    focus(target);
    reached = target;
    isByN = false;
  };
  let last = null;
  const focusDoubt = (step) => {
    const found = doubts();
    const { activeElement } = document;
    const active = activeElement.matches("[data-next-doubt]") ? last : activeElement;
    let at = found.findIndex(([place]) => place === active);
    if (at < 0) at = found.findIndex(([place]) => place.closest(".chk, tbody, .f").contains(active));
    if (at < 0 && step < 0) at = 0;
    const order = found.map((_, number) => found.at((at + step * (number + 1)) % found.length));
    last = order.find(([, isLeft]) => isLeft)?.[0] ?? null;
    lead(last);
    isByN = true;
  };
  for (const act of ["input", "pointerdown", "focusin"]) {
    review.addEventListener(act, ({ target }) => {
      if (act !== "focusin" || target !== reached) reached = null;
    });
  }
  for (const button of all("[data-next-doubt]")) {
    button.hidden = false;
    button.addEventListener("click", () => focusDoubt(1));
  }

  // Enter says first what is unresolved, once, and approves then. A possible duplicate has its own question.
  const outcome = document.getElementById("outcome");
  let isAsked = false;
  const isValid = async () => {
    const detail = { answer: true };
    document.getElementById("correction").dispatchEvent(new CustomEvent("validate", { detail }));
    return detail.answer;
  };
  const approve = async () => {
    const button = review.querySelector("[data-approve]");
    const check = all(".chk[data-f]:not(.settled)")[0];
    const open = check ?? all(OFF)[0];
    if (!button || !open || isAsked || button.matches("[popovertarget]")) {
      button?.click();
      return;
    }
    if (!(await isValid())) return;
    isAsked = true;
    const said = (check ? review.querySelector("[data-left]") : open).textContent.trim();
    outcome.textContent = `${said.replace(/\.$/, "")}. ${outcome.dataset.again}`;
    open.tabIndex = -1;
    open.focus();
  };
  review.addEventListener("input", () => {
    if (isAsked) outcome.textContent = "";
    isAsked = false;
  });

  // These lead to a part of the form.
  const moves = {
    n: ({ shiftKey }) => focusDoubt(shiftKey ? -1 : 1),
    f: () => lead(inputOf(review.querySelector(".f[data-f]"))),
    c: () => lead(document.getElementById("category")),
    i: () => lead(amountOf("item")),
    t: () => lead(amountOf("tax")),
    p: () => lead(amountOf("payment")),
  };
  const keys = {
    ...moves,
    j: () => press("[data-next]"),
    k: () => press("[data-previous]"),
    s: () => press("[data-next]"),
    r: () => press("[data-rotate]"),
    b: () => press(".boxes-off"),
    "+": () => press('[data-zoom-by="1"]'),
    "=": () => press('[data-zoom-by="1"]'),
    "-": () => press('[data-zoom-by="-1"]'),
    enter: approve,
  };
  // The letters that choose an option in an open list are for that one.
  const knowsOpenLists = CSS.supports("selector(:open)");
  const isListOpen = (field) => knowsOpenLists && field.matches(":open");
  // Enter in a closed list does what it does in other fields; some browsers open the list instead.
  const isSavedByEnter = ({ target, key, repeat }) =>
    key === "Enter" && !repeat && knowsOpenLists && target.matches("select") && !isListOpen(target);
  // In a field that a person entered, every letter is typed; so it is where a name may have it.
  const leadsOn = (field, letter) => {
    if (field !== reached || !(letter in moves) || "noKeys" in document.body.dataset) return false;
    if (isListOpen(field)) return false;
    return (isByN && letter === "n") || field.matches("input[inputmode], input[type=date]");
  };

  // Up and down within a column of a table.
  const STEPS = { ArrowUp: "previousElementSibling", ArrowDown: "nextElementSibling" };
  const isMovedInColumn = (field, key) => {
    const row = field.matches(".items input") && key in STEPS ? field.closest("tbody")[STEPS[key]] : null;
    const column = field.name.replace(/^.*-/, "-");
    const next = row?.querySelector(`input[name$="${column}"]`);
    if (next) (field === reached ? lead : focus)(next);
    return Boolean(next);
  };

  const reset = (input) => {
    if (input.tagName === "SELECT") {
      for (const option of input.options) option.selected = option.defaultSelected;
    } else {
      input.value = input.defaultValue;
    }
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.blur();
  };

  document.addEventListener("keydown", (event) => {
    const { target, key } = event;
    const letter = key.toLowerCase();
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.matches("input:not([type=checkbox]), select, textarea")) {
      if (isMovedInColumn(target, key)) {
        event.preventDefault();
        return;
      }
      if (key === "Escape" && !event.repeat) reset(target);
      if (isSavedByEnter(event)) {
        event.preventDefault();
        target.form?.querySelector("button[name=do]").click();
      }
      if (!leadsOn(target, letter)) {
        if (key !== "Shift" && !(key in STEPS)) reached = null;
        return;
      }
    }
    if (key === "Escape" && target.matches("[data-missing]")) target.blur();
    if ("noKeys" in document.body.dataset) return;
    // Behind an open dialog nothing happens.
    if (document.querySelector(":popover-open")) return;
    // Enter on a link or a button is for that one.
    if (key === "Enter" && target.closest("a, button, summary, label, [popover]")) return;
    const act = keys[letter];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act(event);
  });
})();
