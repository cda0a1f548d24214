"use strict";

const page = document.getElementById("swagger-ui");

// Swagger UI has dark colors, but follows no preference.
const isDark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", isDark.matches);
isDark.addEventListener("change", follow);
follow();

/** Repair what keeps keyboards and screen readers out of Swagger UI's own markup. */
function repair() {
  // A link within a button; the button opens the same operation.
  for (const link of page.querySelectorAll(".opblock-summary-control a[href]")) {
    link.removeAttribute("href");
  }
  for (const select of page.querySelectorAll("select:not([aria-label])")) {
    select.setAttribute("aria-label", nameOf(select));
  }
  for (const code of page.querySelectorAll("pre.microlight:not([tabindex])")) {
    code.tabIndex = 0;
  }
}

function nameOf(select) {
  if (select.id === "servers") {
    return "Server";
  }
  if (select.classList.contains("examples-select-element")) {
    return "Example";
  }
  const row = select.closest("tr[data-param-name]");
  return row === null ? "Value" : row.dataset.paramName;
}

new MutationObserver(repair).observe(page, { childList: true, subtree: true });

SwaggerUIBundle({
  url: "/openapi.json",
  domNode: page,
  layout: "BaseLayout",
  deepLinking: true,
  showExtensions: true,
  showCommonExtensions: true,
  displayOperationId: true,
  // The standard theme of code colors has too little contrast.
  syntaxHighlight: { theme: "monokai" },
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIBundle.SwaggerUIStandalonePreset],
});
