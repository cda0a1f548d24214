// Polls a page with pending receipts and updates its changed parts.
"use strict";

(() => {
  const SHORTEST_MS = 2000;
  // Poll less often while nothing changes.
  const LONGEST_MS = 30000;
  let pause = SHORTEST_MS;

  const isPending = () => document.querySelector("[data-pending]") !== null;

  const show = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    document.dispatchEvent(new CustomEvent("recibo:loaded", { detail: page }));
    // A receipt that is read now is another page.
    if (document.querySelector("[data-reload]") && !page.querySelector("[data-reload]")) {
      location.reload();
      return;
    }
    const focused = document.activeElement?.getAttribute("href");
    for (const part of document.querySelectorAll("[data-fresh]")) {
      // An open menu would close.
      if (part.querySelector("details[open]")) continue;
      const fresh = page.getElementById(part.id);
      // What the page does not have any more is no longer true.
      if (!fresh) part.replaceChildren();
      if (fresh && fresh.innerHTML !== part.innerHTML) {
        const checked = [...part.querySelectorAll(":checked")].map((box) => box.value);
        part.replaceChildren(...fresh.childNodes);
        for (const box of part.querySelectorAll("[type=checkbox]")) {
          box.checked = checked.includes(box.value);
        }
        pause = SHORTEST_MS;
      }
    }
    document.title = page.title;
    document.dispatchEvent(new Event("recibo:shown"));
    // Keep the keyboard focus.
    if (focused && document.activeElement === document.body) {
      document.querySelector(`main [href="${CSS.escape(focused)}"]`)?.focus();
    }
  };

  const poll = async () => {
    if (document.hidden) {
      document.addEventListener("visibilitychange", poll, { once: true });
      return;
    }
    pause = Math.min(pause * 1.5, LONGEST_MS);
    try {
      const answer = await fetch(location.href);
      // The session has ended: stop polling.
      if (answer.redirected) return;
      if (answer.ok) show(await answer.text());
    } catch {
      // The network may be back at the next attempt.
    }
    wait();
  };

  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    if (isPending()) timer = setTimeout(poll, pause);
  };

  // Other scripts ask for a look at once.
  document.addEventListener("recibo:changed", poll);
  wait();
})();
