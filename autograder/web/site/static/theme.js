// Sets the colors that the reader has chosen, before the page is drawn. A plain script, because modules run later.
"use strict";
(() => {
  const key = "headway-theme";
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");

  /** @returns {string | null} */
  function stored() {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // Storage can be switched off.
    }
  }

  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const chosen = stored();
  if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;

  addEventListener("DOMContentLoaded", () => {
    const button = /** @type {HTMLButtonElement} */ (document.querySelector("button.theme"));
    const show = () => {
      button.textContent = isDark() ? "Light" : "Dark";
      button.setAttribute("aria-label", `${button.textContent} colors`);
    };
    button.hidden = false;
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try {
        localStorage.setItem(key, root.dataset.theme);
      } catch {
        // The choice holds for this page only.
      }
      show();
    });
    system.addEventListener("change", show);
    show();
  });
})();
