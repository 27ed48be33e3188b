// Small helpers that make elements. Text goes in as text, never as HTML.

/**
 * Make an element. Properties are set as they are; `class` and names with a dash are attributes.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [properties]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else Reflect.set(element, name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/**
 * Make an SVG element with attributes.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number>} attributes
 * @param {...(Node | string)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function shape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** Return text with its `code` in code elements. @param {string} text @returns {(Node | string)[]} */
export function withCode(text) {
  return text.split(/(`[^`]+`)/).filter(Boolean).map((part) =>
    /^`[^`]+`$/.test(part) ? make("code", {}, part.slice(1, -1)) : part);
}

/** Make a button. @param {string} label @param {() => void} onClick @param {Record<string, any>} [properties] */
export function button(label, onClick, properties = {}) {
  return make("button", { type: "button", onclick: onClick, ...properties }, label);
}

/**
 * Ask a question in a dialog that the keyboard can answer; Escape means no.
 * @param {string} question
 * @param {{yes: string, no: string}} labels
 * @returns {Promise<boolean>}
 */
export function ask(question, { yes, no }) {
  const answers = make("p", { class: "answers" },
    make("button", { value: "no", autofocus: true }, no),
    make("button", { value: "yes" }, yes));
  const dialog = make("dialog", { class: "question", "aria-label": question },
    make("form", { method: "dialog" }, make("p", {}, ...withCode(question)), answers));
  document.body.append(dialog);
  const before = document.activeElement;
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before instanceof HTMLElement) before.focus();
      resolve(dialog.returnValue === "yes");
    });
    dialog.showModal();
  });
}

/** Return why something failed, in words. @param {unknown} error */
export function reason(error) {
  return error instanceof Error ? error.message : String(error);
}

/** Return a number with a noun: "1 check", "2 checks". @param {number} number @param {string} noun */
export function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return points as the terminal shows them: at most two decimals. @param {number} value */
export function points(value) {
  return String(Math.round(value * 100) / 100);
}
