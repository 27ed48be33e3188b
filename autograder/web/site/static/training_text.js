// The form that writes text with a model of the workspace; the text appears as it is produced.

import { make, reason } from "./dom.js";
import { announce, field, find, grouped, showMessage, showText } from "./training_dom.js";

const NUMBERS = ["temperature", "top_k", "top_p", "length", "seed"];
const NO_TEXT = { text: "", using: "Starting …", end: null };

/** @typedef {Map<number, {text: string, using: string, end: any}>} Texts what models write, by number, with the last event */

export class TextForm {
  /** @param {{connection: {request: (action: string, payload?: object) => Promise<any>}}} page */
  constructor(page) {
    this._page = page;
    this._section = find("#write");
    this._form = /** @type {HTMLFormElement} */ (find("form", this._section));
    this._write = /** @type {HTMLButtonElement} */ (find("button.primary", this._section));
    this._stop = /** @type {HTMLButtonElement} */ (find("button.stop", this._section));
    this._message = find(".message", this._section);
    this._figure = find("figure.generated", this._section);
    this._output = find("pre", this._figure);
    this.isRunning = false;
    this._generation = 0; // the number of the text that is shown
    /** @type {Texts} */
    this._texts = new Map();
    /** @type {Map<string, any>} */
    this._models = new Map();
    this._form.addEventListener("submit", (event) => {
      event.preventDefault();
      this._start();
    });
    this._form.addEventListener("input", () => showMessage(this._message, ""));
    this._form.addEventListener("change", () => this._choose());
    this._stop.addEventListener("click", () => {
      this._page.connection.request("stop", { generation: true }).catch((error) => showMessage(this._message, error.message));
    });
  }

  /** Show the models to choose from. @param {any[]} models */
  showModels(models) {
    const usable = models.filter(({ kind }) => kind);
    this._section.hidden = usable.length === 0;
    const select = field(this._form, "checkpoint");
    const chosen = this._models.size === usable.length ? select.value : ""; // a new model is the first one
    this._models = new Map(usable.map((model) => [model.name, model]));
    select.replaceChildren(...usable.map((model) => make("option", { value: model.name }, describe(model))));
    if (this._models.has(chosen)) select.value = chosen;
    this._choose();
  }

  /** @param {boolean} isRunning */
  setRunning(isRunning) {
    this.isRunning = isRunning;
    this._write.disabled = isRunning;
    this._stop.hidden = !isRunning;
  }

  /** @param {any} event */
  receive(event) {
    if (event.event === "generation-ended") this.setRunning(false);
    takeNote(this._texts, event);
    if (event.generation === this._generation) this._show(); // else it is of another page
  }

  /** Show what is known of the text. */
  _show() {
    const { text, using, end } = this._texts.get(this._generation) ?? NO_TEXT;
    find("figcaption", this._figure).textContent = using;
    showText(this._output, text.replace(/^\n+/, ""));
    this._figure.hidden = Boolean(end && !text);
    showMessage(this._message, end?.error ?? "");
    find(".notes", this._section).replaceChildren(
      ...(end?.notes ?? []).map((/** @type {string} */ note) => make("li", {}, note)));
    if (end && !end.error) announce(end.stopped ? "Stopped." : "The text is complete.");
  }

  /** Allow only what the chosen model can do. */
  _choose() {
    const kind = this._models.get(field(this._form, "checkpoint").value)?.kind;
    for (const name of ["top_k", "top_p"]) field(this._form, name).disabled = kind === "bigram" || kind === "encoder-decoder";
    const isImported = kind === "imported";
    const length = field(this._form, "length").closest("label");
    if (length?.firstChild) length.firstChild.nodeValue = isImported ? "Length (tokens)" : "Length (characters)";
  }

  async _start() {
    const payload = { checkpoint: field(this._form, "checkpoint").value, prompt: field(this._form, "prompt").value,
      solution: field(this._form, "solution").checked };
    for (const name of NUMBERS) {
      const input = field(this._form, name);
      if (input.value && !input.disabled) Object.assign(payload, { [name]: Number(input.value) });
    }
    this._generation = 0;
    this._show();
    this.setRunning(true);
    try {
      this._generation = (await this._page.connection.request("generate", payload)).generation;
      this._show();
    } catch (error) {
      this.setRunning(false);
      this._figure.hidden = true;
      showMessage(this._message, reason(error));
    }
  }
}

/**
 * Take note of an event about a text. It may arrive before the reply that says the number of the text.
 * @param {Texts} texts
 * @param {any} event
 */
export function takeNote(texts, event) {
  const { text, using } = texts.get(event.generation) ?? NO_TEXT;
  const end = event.event === "generation-ended" ? event : null;
  texts.set(event.generation, { text: text + (event.text ?? ""), using: event.using ?? using, end });
}

/** Return a model in a line. @param {any} model */
export function describe({ name, about, step, validation }) {
  const steps = step === null ? "" : `, ${grouped(step)} steps`;
  return `${name}: ${about}${steps}${validation === null ? "" : `, validation loss ${validation.toFixed(2)}`}`;
}
