// Looks again at a page on which something is still being read, and shows what changed of it.
"use strict";

(() => {
  const SHORTEST_MS = 2000;
  // A queue may be long: whoever waits for minutes need not ask each second.
  const LONGEST_MS = 30000;
  let pause = SHORTEST_MS;

  const isPending = () => document.querySelector("[data-pending]") !== null;

  const show = (text) => {
    const page = new DOMParser().parseFromString(text, "text/html");
    const held = document.activeElement?.getAttribute("href");
    for (const part of document.querySelectorAll("[data-fresh]")) {
      const fresh = page.getElementById(part.id);
      if (fresh && fresh.innerHTML !== part.innerHTML) {
        part.replaceChildren(...fresh.childNodes);
        pause = SHORTEST_MS;
      }
    }
    document.title = page.title;
    // Whoever goes by the keyboard stays where they are.
    if (held && document.activeElement === document.body) {
      document.querySelector(`main [href="${CSS.escape(held)}"]`)?.focus();
    }
  };

  const look = async () => {
    if (document.hidden) {
      document.addEventListener("visibilitychange", look, { once: true });
      return;
    }
    pause = Math.min(pause * 1.5, LONGEST_MS);
    try {
      const answer = await fetch(location.href);
      // Whoever is signed out meanwhile is led elsewhere, and not asked for again.
      if (answer.redirected) return;
      if (answer.ok) show(await answer.text());
    } catch {
      // The line is down; it may be up the next time.
    }
    wait();
  };

  const wait = () => {
    if (isPending()) setTimeout(look, pause);
  };

  wait();
})();
