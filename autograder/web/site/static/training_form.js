// The form that starts a run: which model, which text, how many steps, and the name of the checkpoint.

import { button, make, reason } from "./dom.js";
import { announce, field, find, grouped, showMessage, time } from "./training_dom.js";

const SHOWN_FIRST = 4; // models; the others are folded

/**
 * @typedef {object} Preset
 * @property {string} name
 * @property {string} title
 * @property {string} text
 * @property {number | null} milliseconds of a step, as measured; null in a browser, where nobody has
 * @property {string} kind
 * @property {string} data
 * @property {number} steps
 */

export class RunForm {
  /** @param {{connection: {request: (action: string, payload?: object) => Promise<any>}, run: any}} page */
  constructor(page) {
    this._page = page;
    this._section = find("#start");
    this._form = /** @type {HTMLFormElement} */ (find("form", this._section));
    this._message = find(".message:not(.conflict)", this._section);
    this._conflict = find(".conflict", this._section);
    this._estimate = find(".estimate", this._section);
    /** @type {Map<string, Preset>} */
    this._presets = new Map();
    /** @type {{name: string, description: string, available: boolean}[]} */
    this._datasets = [];
    this._form.addEventListener("submit", (event) => {
      event.preventDefault();
      this._start({});
    });
    this._form.addEventListener("input", (event) => {
      const isPreset = event.target instanceof HTMLInputElement && event.target.name === "preset";
      if (isPreset) this._choose();
      this._showEstimate();
      this._conflict.hidden = true;
      showMessage(this._message, "");
    });
  }

  /**
   * Show what can be chosen.
   * @param {{presets: Preset[], datasets: {name: string, description: string, available: boolean}[]}} state
   */
  show({ presets, datasets }) {
    this._section.hidden = false;
    this._datasets = datasets;
    if (this._presets.size === 0) {
      this._presets = new Map(presets.map((preset) => [preset.name, preset]));
      const choices = presets.map((preset, i) => this._choice(preset, i === 0));
      find(".main-presets", this._form).replaceChildren(...choices.slice(0, SHOWN_FIRST));
      find(".more-presets", this._form).replaceChildren(...choices.slice(SHOWN_FIRST));
      this._choose();
    }
    this._showEstimate();
  }

  /** There is one run at a time. @param {boolean} isRunning */
  setRunning(isRunning) {
    this._section.hidden = isRunning;
  }

  /** Return what a preset is called. @param {string} preset its name */
  title(preset) {
    return this._presets.get(preset)?.title ?? preset;
  }

  /** Resume the run in a checkpoint up to a step. @param {string} checkpoint @param {number} steps */
  resume(checkpoint, steps) {
    return this._start({ out: checkpoint, steps, resume: true });
  }

  /** @param {Preset} preset @param {boolean} checked */
  _choice(preset, checked) {
    const estimate = preset.milliseconds ? `, about ${time((preset.milliseconds * preset.steps) / 1000)}` : "";
    return make("label", { class: "preset" },
      make("input", { type: "radio", name: "preset", value: preset.name, checked }),
      make("span", {},
        make("strong", {}, preset.title), ` ${preset.text} `,
        make("span", { class: "effort-of" }, `${grouped(preset.steps)} steps${estimate}`)));
  }

  get _preset() {
    const name = new FormData(this._form).get("preset");
    return /** @type {Preset} */ (this._presets.get(String(name)));
  }

  /** Fill in what goes with the chosen preset. */
  _choose() {
    const preset = this._preset;
    const select = field(this._form, "data");
    const available = this._datasets.filter(({ name }) => (name === "digits") === (preset.data === "digits"));
    select.replaceChildren(...available.map(({ name, description, available: here }) =>
      make("option", { value: name, disabled: !here }, here ? `${name}: ${description}` : `${name}: not downloaded (headway data fetch ${name})`)));
    const wanted = available.find(({ name }) => name === preset.data);
    const other = available.find(({ name }) => name === "names") ?? available.find(({ available: here }) => here);
    select.value = (wanted?.available ? wanted : other)?.name ?? "";
    field(this._form, "steps").value = String(preset.steps);
  }

  _showEstimate() {
    const preset = this._preset;
    const seconds = ((preset.milliseconds ?? 0) * Number(field(this._form, "steps").value)) / 1000;
    this._estimate.textContent = seconds > 0
      ? `About ${time(seconds)}: the official solution needs ${preset.milliseconds} ms for a step, measured on one core of a ` +
        "server. Your computer and your code may be slower or faster."
      : "";
  }

  /** Start a run with the values of the form and some others. @param {Record<string, any>} changes */
  async _start(changes) {
    const payload = {
      preset: this._preset.name, data: field(this._form, "data").value, steps: Number(field(this._form, "steps").value),
      seed: Number(field(this._form, "seed").value), out: field(this._form, "out").value.trim(),
      solution: field(this._form, "solution").checked, ...changes,
    };
    this._conflict.hidden = true;
    showMessage(this._message, "");
    try {
      const reply = await this._page.connection.request("train", payload);
      if (reply.conflict) {
        this._showConflict(reply.conflict, payload.steps);
        return;
      }
      this._page.run.begin(reply, payload.preset);
      this.setRunning(true);
      announce("The run begins.");
    } catch (error) {
      showMessage(this._message, reason(error));
    }
  }

  /**
   * Offer to resume the run in a checkpoint that exists, or another name.
   * @param {{checkpoint: string, message: string, resumable: boolean, step: number, steps: number, suggestion: string}}
   *   conflict
   * @param {number} wanted steps
   */
  _showConflict({ checkpoint, message, resumable, step, steps, suggestion }, wanted) {
    const until = step < steps ? steps : step + wanted;
    this._conflict.replaceChildren(make("p", {}, message), make("p", { class: "buttons" },
      button(`Save as ${suggestion}`, () => {
        field(this._form, "out").value = suggestion.replace(/\.safetensors$/, "");
        this._start({ out: suggestion });
      }),
      resumable && button(`Resume it: from step ${grouped(step)} to ${grouped(until)}`, () => this.resume(checkpoint, until))));
    this._conflict.hidden = false;
  }
}
