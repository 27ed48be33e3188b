// The model that was trained last, on the start page: what it is, and what it writes.

import { button, count, make, reason } from "./dom.js";
import { keep, kept } from "./storage.js";
import { showText } from "./training_dom.js";
import { describe, takeNote } from "./training_text.js";

const KEY = `headway model ${new URL("../", import.meta.url).pathname}`; // in the browser's storage

/** Keep what the start page shows of the model of a run. @param {any} run */
export function keepModel({ checkpoint, preset, start, history, end, sample, sample_step }) {
  const { validation = null } = history.findLast((/** @type {any} */ point) => point.validation !== null) ?? {};
  const model = { name: checkpoint, kind: preset, about: `${preset} on ${start.data}`, step: end.step, validation };
  keep("localStorage", KEY, { checkpoints: [model], run: { checkpoint, sample, sample_step } });
}

/** Answers about the model that this browser has kept, as a back end would. */
export const keptModel = { name: "browser", request: async () => kept("localStorage", KEY) ?? { checkpoints: [] } };

export class LastModel {
  /** @param {{name: string, request: (action: string, payload?: object) => Promise<any>}} connection */
  constructor(connection) {
    this._connection = connection;
    this._write = button("Let it write", () => this._start(), { hidden: connection === keptModel });
    this._about = make("p");
    this._caption = make("figcaption", { "aria-live": "polite" });
    this._text = make("pre", { tabIndex: 0, hidden: true, "aria-label": "The text of the model" });
    this.element = make("section", { class: "model", "aria-labelledby": "model", hidden: true },
      make("h2", { id: "model" }, "Your last model"), this._about, make("figure", {}, this._caption, this._text),
      make("p", {}, this._write, " ", make("a", { href: "train.html" }, "All models")));
    this._name = "";
    this._generation = 0; // the number of the text that is shown
    /** @type {import("./training_text.js").Texts} */
    this._texts = new Map();
  }

  /** Look for the latest model; without one, nothing is shown. */
  async load() {
    const { checkpoints } = await this._connection.request("checkpoints");
    const { run } = await this._connection.request("training");
    const model = checkpoints.find((/** @type {any} */ { kind, step }) => kind && step !== null);
    if (!model) return;
    this.element.hidden = false;
    this._name = model.name;
    this._about.textContent = `${describe(model)}.`;
    if (run?.checkpoint === model.name && run.sample) this._show(run.sample, `What it wrote after ${count(run.sample_step, "step")}`);
  }

  /** @param {any} event of the server */
  receive(event) {
    if (event.event === "training-ended") this.load();
    if (!event.generation) return;
    takeNote(this._texts, event);
    this._showLatest();
  }

  _showLatest() {
    const latest = this._texts.get(this._generation);
    if (!latest) return;
    this._show(latest.text, latest.end?.error ?? latest.using);
    this._write.disabled = !latest.end;
  }

  async _start() {
    this._write.disabled = true;
    this._show("", "Starting …");
    try {
      const request = { checkpoint: this._name, length: 160, seed: Date.now() % 1e6 };
      this._generation = (await this._connection.request("generate", request)).generation;
      this._showLatest();
    } catch (error) {
      this._show("", reason(error));
      this._write.disabled = false;
    }
  }

  /** @param {string} text @param {string} caption */
  _show(text, caption) {
    this._caption.textContent = caption;
    this._text.hidden = !text;
    showText(this._text, text.replace(/^\n+/, ""));
  }
}
