// The form of the review page: sums while typing, spare rows, unsaved changes. It works without them.
"use strict";

(() => {
  const form = document.getElementById("correction");
  if (!form) return;

  // Sums are computed by the server, which knows the notation and what may be between amounts.
  const PAUSE_MS = 250;
  const places = [...form.querySelectorAll("[data-sums]")];
  let timer = 0;
  let asked = 0;
  const post = (path, headers, submitter) =>
    fetch(path, {
      method: "POST",
      headers,
      body: new URLSearchParams(new FormData(form, submitter)),
    });
  const add = async () => {
    const turn = (asked += 1);
    let sums = {};
    try {
      const answer = await post(form.dataset.sumsPath, {});
      if (answer.ok) sums = await answer.json();
    } catch {
      // Without a connection there are no sums.
    }
    if (turn !== asked) return;
    for (const place of places) {
      const sum = sums[place.dataset.sums];
      place.dataset.state = sum?.state ?? "";
      if (place.textContent !== (sum?.text ?? "")) place.textContent = sum?.text ?? "";
    }
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(add, PAUSE_MS);
  });

  // The last row of a table is for a new entry: once it is used, another one follows.
  const NUMBER = /-(\d+)(?=-|$)/;
  const follow = (row) => {
    const next = row.cloneNode(true);
    const raise = (text) => text.replace(NUMBER, (_, number) => `-${Number(number) + 1}`);
    next.dataset.f = raise(next.dataset.f);
    for (const field of next.querySelectorAll("input, select")) {
      field.id = raise(field.id);
      field.name = raise(field.name);
      field.removeAttribute("aria-invalid");
      field.removeAttribute("aria-describedby");
      if (field.tagName === "INPUT") {
        field.removeAttribute("value");
        field.value = "";
      } else {
        field.selectedIndex = 0;
      }
    }
    row.classList.remove("new");
    row.after(next);
  };
  form.addEventListener("input", (event) => {
    const row = event.target.closest("tr.new");
    if (row && event.target.value) follow(row);
  });

  // Leaving asks first while there are changes that were not saved.
  const isChanged = (field) => {
    if (field.tagName !== "SELECT") return field.value !== field.defaultValue;
    const chosen = [...field.options].findIndex((option) => option.defaultSelected);
    return field.selectedIndex !== Math.max(0, chosen);
  };
  const fields = () => [...form.elements].filter((one) => one.matches("input:not([type=hidden]), select"));
  let isSaving = false;
  addEventListener("beforeunload", (event) => {
    if (!isSaving && ("unsaved" in form.dataset || fields().some(isChanged))) event.preventDefault();
  });
  addEventListener("pageshow", () => {
    isSaving = false;
  });

  // The page after saving takes the place of this one, so that Back leads to where one came from.
  let isPlain = false;
  const save = async (button) => {
    try {
      const answer = await post(form.action, { Accept: "application/json" }, button);
      if (answer.ok) {
        const { location: page, is_same: isSame } = await answer.json();
        if (isSame) location.replace(page);
        else location.assign(page);
        return;
      }
    } catch {
      // The browser says what is wrong with the connection.
    }
    isPlain = true;
    form.requestSubmit(button);
  };
  form.addEventListener("submit", (event) => {
    const { submitter } = event;
    isSaving = true;
    if (isPlain || !submitter) return;
    event.preventDefault();
    save(submitter);
  });
})();
