// The form of the review page: sums while typing, spare rows, unsaved changes. It works without them.
"use strict";

(() => {
  const form = document.getElementById("correction");
  if (!form) return;

  // The server knows the notation, what may be between amounts, and what a value must be.
  const PAUSE_MS = 250;
  const places = [...form.querySelectorAll("[data-sums]")];
  let timer = 0;
  let asked = 0;
  // None before the first answer: until then those of the page stay.
  let errors = null;
  const post = (path, headers, submitter) =>
    fetch(path, {
      method: "POST",
      headers,
      body: new URLSearchParams(new FormData(form, submitter)),
    });
  const ask = async () => {
    const turn = (asked += 1);
    let found = { sums: {}, errors: {} };
    try {
      const answer = await post(form.dataset.sumsPath, {});
      if (answer.ok) found = await answer.json();
    } catch {
      // Without a connection there are no sums, and errors are shown after saving.
    }
    if (turn !== asked) return;
    for (const place of places) {
      const sum = found.sums[place.dataset.sums];
      place.dataset.state = sum?.state ?? "";
      if (place.textContent !== (sum?.text ?? "")) place.textContent = sum?.text ?? "";
    }
    errors = found.errors;
    showAll();
    if (found.left) showLeft(found);
  };
  // What is settled by what was typed counts no more.
  const checks = [...form.querySelectorAll(".chk[data-f]")];
  const added = form.querySelector("[data-new]");
  const showLeft = ({ left, heading, said: sentences }) => {
    for (const check of checks) check.classList.toggle("settled", !left.includes(check.dataset.f));
    const place = form.querySelector("[data-left]");
    if (place && place.textContent !== heading) place.textContent = heading;
    const fresh = left.filter((name) => !checks.some((check) => check.dataset.f === name));
    const text = fresh.map((name) => sentences[name]).join(" ");
    if (added && added.textContent !== text) added.textContent = text;
    const isSettled = !fresh.length && !form.querySelector(".chk:not(.settled)");
    place?.closest(".checks").classList.toggle("settled", isSettled);
  };
  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE_MS);
  });

  // Errors are shown where one has typed: once the field is left, or one has stopped typing for a
  // moment, since half a value is wrong, too. They go as soon as the value is right.
  const STOP_MS = 1000;
  const said = document.getElementById("said");
  const ready = new Set();
  let stop = 0;
  const MOMENT = ["issued_date", "issued_time", "issued_offset"];
  const keyOf = (field) => (MOMENT.includes(field.name) ? "issued_at" : field.name);
  const fieldsOf = (key) =>
    (key === "issued_at" ? MOMENT : [key]).map((name) => form.elements[name]).filter(Boolean);
  const add = (key, field) => {
    const error = document.getElementById("error").content.firstElementChild.cloneNode(true);
    error.id = `${key}-error`;
    const entry = field.closest("tbody");
    const shown = field.closest(".chk-g") ?? field.closest(".f")?.lastElementChild;
    if (!entry) {
      shown.after(error);
      return error;
    }
    let line = entry.querySelector(".wrong");
    if (!line) {
      line = entry.insertRow();
      line.className = "wrong";
      line.setAttribute("role", "row");
      const cell = line.insertCell();
      cell.colSpan = entry.rows[0].cells.length;
      cell.setAttribute("role", "cell");
    }
    line.cells[0].append(error);
    return error;
  };
  const show = (key) => {
    const [field] = fieldsOf(key);
    let error = document.getElementById(`${key}-error`);
    const text = errors?.[key] ?? "";
    if (!errors || !field || text === (error?.textContent.trim() ?? "")) return;
    if (text) {
      error ??= add(key, field);
      error.querySelector("span").textContent = text;
      said.textContent = text;
    } else {
      const line = error.closest(".wrong");
      error.remove();
      if (line && !line.querySelector(".error")) line.remove();
    }
    for (const one of fieldsOf(key)) {
      for (const [name, value] of [["aria-invalid", "true"], ["aria-describedby", error.id]]) {
        if (text) one.setAttribute(name, value);
        else one.removeAttribute(name);
      }
    }
  };
  const showAll = () => ready.forEach(show);
  const makeReady = (key) => {
    ready.add(key);
    show(key);
  };
  form.addEventListener("input", ({ target }) => {
    const key = keyOf(target);
    clearTimeout(stop);
    stop = setTimeout(makeReady, STOP_MS, key);
    if (target.hasAttribute("aria-invalid")) ready.add(key);
    else ready.delete(key);
  });
  form.addEventListener("change", ({ target }) => makeReady(keyOf(target)));

  // What was typed is checked before anything is asked about an approval.
  const isValid = async () => {
    if (!fields().some(isChanged) && !("unsaved" in form.dataset)) return true;
    clearTimeout(timer);
    await ask();
    for (const key of Object.keys(errors ?? {})) makeReady(key);
    const wrong = form.querySelector('[aria-invalid="true"]');
    wrong?.focus();
    return !wrong;
  };
  form.addEventListener("validate", ({ detail }) => {
    detail.answer = isValid();
  });
  for (const button of document.querySelectorAll('[popovertarget^="despite-"]')) {
    if (button.closest("[popover]")) continue;
    button.addEventListener("click", async (event) => {
      event.preventDefault();
      const question = document.getElementById(button.getAttribute("popovertarget"));
      if (await isValid()) question.showPopover({ source: button });
    });
  }

  // The last row of a table is for a new entry: once it is used, another one follows.
  const NUMBER = /-(\d+)(?=-|$)/;
  const follow = (entry) => {
    const next = entry.cloneNode(true);
    const raise = (text) => text.replace(NUMBER, (_, number) => `-${Number(number) + 1}`);
    next.dataset.f = raise(next.dataset.f);
    next.querySelector(".wrong")?.remove();
    next.classList.remove("on");
    for (const label of next.querySelectorAll("label")) label.htmlFor = raise(label.htmlFor);
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
    entry.classList.remove("new");
    entry.after(next);
  };
  form.addEventListener("input", ({ target }) => {
    const entry = target.closest("tbody.new");
    if (entry && target.value) follow(entry);
  });

  // What items or taxes lack is filled in; without this file, the form comes back with it.
  for (const button of form.querySelectorAll("[data-missing]")) {
    button.addEventListener("click", (event) => {
      event.preventDefault();
      const amount = document.getElementById(button.dataset.into);
      const name = document.getElementById(button.dataset.into.replace(/-[a-z]+$/, "-name"));
      if (!amount.value) {
        amount.value = button.dataset.missing;
        amount.dispatchEvent(new Event("input", { bubbles: true }));
      }
      name.focus();
    });
  }

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
  addEventListener("pageshow", ({ persisted }) => {
    // Back to this page; a page that is still loading may be saving already.
    if (persisted) isSaving = false;
  });

  // The same page after saving shows the place where one was, and says at the buttons what the
  // notice at its top would say. What is around the field has the focus, not the field: Enter approves.
  const PLACE = "recibo:place";
  const panel = document.querySelector(".panel-scroll");
  const keepPlace = () => {
    const { activeElement: active } = document;
    const row = active?.closest("[data-f]")?.dataset.f ?? "";
    const isCheck = Boolean(active?.closest(".chk"));
    const place = [location.pathname, panel.scrollTop, scrollY, row, active?.name ?? "", isCheck];
    sessionStorage.setItem(PLACE, JSON.stringify(place));
  };
  const [path, top, pageTop, row, name, wasCheck] = JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
  sessionStorage.removeItem(PLACE);
  // What an approval leaves to check is at the top.
  if (path === location.pathname && !("unsettled" in form.dataset)) {
    const around = row ? form.querySelector(`[data-f="${CSS.escape(row)}"]`) : null;
    const field = `:is(input, select)[name="${CSS.escape(name)}"]`;
    const shown = around?.querySelector(field) ?? around?.querySelector("input, select");
    const notice = document.querySelector("#notes [role=status]");
    if (notice) {
      document.getElementById("outcome").textContent = notice.textContent.trim();
      notice.remove();
    }
    panel.scrollTop = top;
    scrollTo(0, pageTop);
    // What was to check is among the other fields now: the rest to check stays in view.
    if (wasCheck && !around?.closest(".chk")) {
      panel.focus({ preventScroll: true });
    } else if (shown) {
      shown.parentElement.tabIndex = -1;
      shown.parentElement.focus({ preventScroll: true });
      shown.scrollIntoView({ block: "nearest" });
    }
  }

  // The page after saving takes the place of this one, so that Back leads to where one came from.
  let isPlain = false;
  const save = async (button) => {
    try {
      const answer = await post(form.action, { Accept: "application/json" }, button);
      if (answer.ok) {
        const { location: page, is_same: isSame } = await answer.json();
        if (isSame) {
          keepPlace();
          location.replace(page);
        } else {
          location.assign(page);
        }
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
