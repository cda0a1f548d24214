// Conveniences only: every page works without this file.
"use strict";

(() => {
  const all = (selector) => [...document.querySelectorAll(selector)];

  // Tabs that do not fit are scrolled to the current one.
  for (const tab of all(".tabs [aria-current]")) {
    const tabs = tab.parentElement;
    const [inner, outer] = [tab.getBoundingClientRect(), tabs.getBoundingClientRect()];
    tabs.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  }
  // Browsers do not scroll to a tab of which a part is in view.
  for (const tabs of all(".tabs")) {
    tabs.addEventListener("focusin", ({ target }) => {
      target.scrollIntoView({ block: "nearest", inline: "nearest" });
    });
  }

  // One menu is open at a time; a click or the focus outside closes it, and Escape.
  // Dialogs leave the menu open, because the focus returns to it.
  for (const leaving of ["click", "focusin"]) {
    document.addEventListener(leaving, ({ target }) => {
      if (target.closest("[popover]")) return;
      for (const menu of all("details.menu[open]")) {
        if (!menu.contains(target)) menu.open = false;
      }
    });
  }
  // Without one, Escape goes back to where the page was opened.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.repeat) return;
    const menu = document.querySelector("details.menu[open]");
    if (!menu) {
      if (!document.querySelector(":popover-open")) document.querySelector("[data-escape]")?.click();
      return;
    }
    menu.open = false;
    menu.querySelector("summary").focus();
  });

  // The focus stays in a dialog until it closes; then the browser returns it to the button.
  document.addEventListener("focusin", ({ target }) => {
    const dialog = document.querySelector(":is(.dialog, .sheet):popover-open");
    if (dialog && !dialog.contains(target)) dialog.querySelector("a, button").focus();
  });

  // Keys of all pages: G and the letter of a section, and ? for the list of keys.
  // The letter may come late: people who type slowly need time (WCAG 2.2.1).
  let isAfterG = false;
  const go = (letter) => document.querySelector(`[data-go="${CSS.escape(letter)}"]`);
  addEventListener(
    "keydown",
    (event) => {
      const { target, key } = event;
      if ("noKeys" in document.body.dataset) return;
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || key === "Shift") return;
      if (target.matches("input:not([type=checkbox]), select, textarea")) return;
      const list = document.getElementById("shortcuts");
      const dialog = document.querySelector(":popover-open");
      if (key === "?" && list && (!dialog || dialog === list)) {
        event.preventDefault();
        list.togglePopover();
      }
      if (dialog) return;
      const link = isAfterG ? go(key.toLowerCase()) : null;
      isAfterG = key.toLowerCase() === "g";
      if (!link) return;
      // The letter is none of the page's keys now.
      event.preventDefault();
      event.stopImmediatePropagation();
      link.click();
    },
    { capture: true },
  );
  for (const other of ["focusin", "pointerdown"]) {
    addEventListener(other, () => {
      isAfterG = false;
    });
  }

  // What a form made is shown once: loading the page again must not make another one.
  if (document.querySelector("[data-once]")) history.replaceState(history.state, "");

  // Buttons that copy are hidden without JavaScript and where the browser has no clipboard.
  const COPIED_MS = 1500;
  const copy = async (button, label) => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
    } catch {
      getSelection().selectAllChildren(source);
      return;
    }
    const show = (isCopied) => {
      button.classList.toggle("copied", isCopied);
      button.setAttribute("aria-label", isCopied ? document.body.dataset.copied : label);
    };
    show(true);
    setTimeout(show, COPIED_MS, false);
  };
  for (const button of all("[data-copy]")) {
    button.hidden = !navigator.clipboard;
    const label = button.getAttribute("aria-label");
    button.addEventListener("click", () => copy(button, label));
  }
})();
