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
    const focused = document.activeElement?.getAttribute("href");
    for (const part of document.querySelectorAll("[data-fresh]")) {
      const fresh = page.getElementById(part.id);
      if (fresh && fresh.innerHTML !== part.innerHTML) {
        part.replaceChildren(...fresh.childNodes);
        pause = SHORTEST_MS;
      }
    }
    document.title = page.title;
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

  const wait = () => {
    if (isPending()) setTimeout(poll, pause);
  };

  wait();
})();
