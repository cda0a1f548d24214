// Times of events in the time zone of the reader. Without this file they are UTC, and say so.
"use strict";

(() => {
  const { lang } = document.documentElement;
  // Dates as the server writes them: readers of English see the month as a word.
  const hasWords = lang.startsWith("en");
  const day = {
    year: "numeric",
    month: hasWords ? "short" : "2-digit",
    day: hasWords ? "numeric" : "2-digit",
  };
  const minute = { ...day, hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
  const formats = {};
  for (const [name, options] of Object.entries({ day, minute, second: { ...minute, second: "2-digit" } })) {
    formats[name] = new Intl.DateTimeFormat(lang, options);
  }
  const { timeZone } = formats.day.resolvedOptions();

  const show = (page) => {
    for (const time of page.querySelectorAll("time[data-local]")) {
      if (!time.title) time.title = time.textContent;
      time.textContent = formats[time.dataset.local].format(new Date(time.dateTime));
      time.removeAttribute("data-local");
    }
    for (const note of page.querySelectorAll("[data-zone]")) {
      note.textContent = note.dataset.zone.replace("{}", timeZone.replaceAll("_", " "));
    }
  };
  show(document);
  // Parts of a page that is loaded again are compared with what is shown.
  document.addEventListener("recibo:loaded", ({ detail: page }) => show(page));
})();
