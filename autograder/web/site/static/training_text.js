// The form that writes text with a model of the workspace; the text appears as it is produced.

import { make } from "./dom.js";
import { announce, find, grouped, showMessage, showText } from "./training_dom.js";

const NUMBERS = ["temperature", "top_k", "top_p", "length", "seed"];

export class TextForm {
  /** @param {{connection: {request: (action: string, payload?: object) => Promise<any>}}} page */
  constructor(page) {
    this._page = page;
    this._section = /** @type {HTMLElement} */ (find("#write"));
    this._form = /** @type {HTMLFormElement} */ (find("form", this._section));
    this._write = /** @type {HTMLButtonElement} */ (find("button.primary", this._section));
    this._stop = /** @type {HTMLButtonElement} */ (find("button.stop", this._section));
    this._message = /** @type {HTMLElement} */ (find(".message", this._section));
    this._figure = /** @type {HTMLElement} */ (find("figure.generated", this._section));
    this._output = /** @type {HTMLElement} */ (find("pre", this._figure));
    this._text = "";
    this.isRunning = false;
    this._generation = 0; // the number of the text that is shown
    /** @type {any[] | null} events that arrive before that number is known */
    this._early = null;
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
    const select = this._field("checkpoint");
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
    if (this._early) {
      this._early.push(event);
      return;
    }
    if (event.event === "generation-ended") this.setRunning(false);
    if (event.generation !== this._generation) return; // of another page
    if (event.event === "generation-started") {
      find("figcaption", this._figure).textContent = event.using;
    } else if (event.event === "generation") {
      this._text += event.text;
      showText(this._output, this._text.replace(/^\n+/, ""));
    } else if (event.event === "generation-ended") {
      showMessage(this._message, event.error ?? "");
      this._showNotes(event.notes);
      this._figure.hidden = !this._text;
      if (!event.error) announce(event.stopped ? "Stopped." : "The text is complete.");
    }
  }

  /** Allow only what the chosen model can do. */
  _choose() {
    const kind = this._models.get(this._field("checkpoint").value)?.kind;
    for (const name of ["top_k", "top_p"]) this._field(name).disabled = kind === "bigram" || kind === "encoder-decoder";
    const isImported = kind === "imported";
    const length = this._field("length").closest("label");
    if (length?.firstChild) length.firstChild.nodeValue = isImported ? "Length (tokens)" : "Length (characters)";
  }

  async _start() {
    const payload = { checkpoint: this._field("checkpoint").value, prompt: this._field("prompt").value,
      solution: this._field("solution").checked };
    for (const name of NUMBERS) {
      const field = this._field(name);
      if (field.value && !field.disabled) Object.assign(payload, { [name]: Number(field.value) });
    }
    showMessage(this._message, "");
    this._showNotes([]);
    this._text = "";
    showText(this._output, "");
    find("figcaption", this._figure).textContent = "Starting …";
    this._figure.hidden = false;
    this.setRunning(true);
    this._early = [];
    try {
      this._generation = (await this._page.connection.request("generate", payload)).generation;
    } catch (error) {
      this.setRunning(false);
      this._figure.hidden = true;
      showMessage(this._message, error instanceof Error ? error.message : String(error));
    }
    const early = this._early.splice(0);
    this._early = null;
    early.forEach((event) => this.receive(event));
  }

  /** @param {string[]} notes */
  _showNotes(notes) {
    find(".notes", this._section).replaceChildren(...notes.map((note) => make("li", {}, note)));
  }

  /** @param {string} name */
  _field(name) {
    return /** @type {HTMLInputElement & HTMLSelectElement} */ (this._form.elements.namedItem(name));
  }
}

/** Return a model in a line. @param {any} model */
export function describe({ name, about, step, validation }) {
  const steps = step === null ? "" : `, ${grouped(step)} steps`;
  return `${name}: ${about}${steps}${validation === null ? "" : `, validation loss ${validation.toFixed(2)}`}`;
}
