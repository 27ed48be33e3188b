// What the parts of the training page share.

const SHORT_LINE = 16; // characters

/**
 * Return the one element in `place` that a selector finds.
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [place]
 * @returns {T}
 */
export function find(selector, place = document) {
  const found = place.querySelector(selector);
  if (!found) throw new Error(`the page has no ${selector}`);
  return /** @type {T} */ (found);
}

/** Return a field of a form. @param {HTMLFormElement} form @param {string} name */
export function field(form, name) {
  return /** @type {HTMLInputElement & HTMLSelectElement} */ (form.elements.namedItem(name));
}

/** Show a message, or hide its place if there is none. @param {HTMLElement} place @param {string} message */
export function showMessage(place, message) {
  place.textContent = message;
  place.hidden = !message;
}

/** Tell screen readers something. @param {string} message */
export function announce(message) {
  find("#announcement").textContent = message;
}

/** Return a number with separators. @param {number} value */
export function grouped(value) {
  return value.toLocaleString("en-US");
}

/**
 * Show a text that a model writes. Short lines, such as names, stand in columns.
 * @param {HTMLElement} place
 * @param {string} text
 */
export function showText(place, text) {
  const lines = text.split("\n");
  place.classList.toggle("columns", lines.length > 8 && lines.every((line) => line.length <= SHORT_LINE));
  place.textContent = text;
}

/** Return a time in words. @param {number} seconds */
export function time(seconds) {
  if (seconds < 100) return `${Math.max(1, Math.round(seconds))} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
