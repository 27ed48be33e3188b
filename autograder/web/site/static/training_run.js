// A training run on the page: its state, the loss curve, the table and the text that the model writes meanwhile.

import { make, reason } from "./dom.js";
import { renderPlot } from "./plot.js";
import { announce, find, grouped, showMessage, showText, time } from "./training_dom.js";
import { keepModel } from "./training_home.js";
import { lossPlot } from "./training_plot.js";

const MOST_POINTS = 1500;

export class RunView {
  /** @param {{connection: import("./connection.js").Connection, form: any}} page */
  constructor(page) {
    this._page = page;
    this._section = find("#run");
    this._chart = find(".chart", this._section);
    this._willDraw = false;
    this._stop = /** @type {HTMLButtonElement} */ (find("button.stop", this._section));
    this._discard = /** @type {HTMLButtonElement} */ (find("button.discard", this._section));
    this._longer = /** @type {HTMLButtonElement} */ (find("button.longer", this._section));
    /** @type {any} the run as the server describes it */
    this._run = null;
    this._stop.addEventListener("click", () => this._request({}));
    this._discard.addEventListener("click", () => this._request({ save: false }));
    this._longer.addEventListener("click", () => {
      const { checkpoint, until } = this._longer.dataset;
      this._page.form.resume(checkpoint, Number(until));
    });
  }

  get isRunning() {
    return Boolean(this._run) && this._run.state !== "ended";
  }

  /** Show a run that was started, or null. @param {any} run */
  showState(run) {
    this._run = run;
    if (run) this._showAll();
  }

  /**
   * Show a run that has been asked for and has not begun.
   * @param {{run: number, checkpoint: string}} reply
   * @param {string} preset
   */
  begin({ run, checkpoint }, preset) {
    if (this._run?.run === run && this.isRunning) return; // its first event was faster
    this._run = { run, checkpoint, preset, state: "starting", start: null, history: [], sample: "", sample_step: 0, end: null };
    this._showAll();
    find("h2", this._section).focus(); // The form, which had the focus, is hidden.
  }

  /** @param {any} event */
  receive(event) {
    if (event.event === "training-started") {
      this._run = event;
      this._showAll();
      return;
    }
    if (event.run !== this._run?.run) return;
    if (event.event === "training") {
      if (event.step <= (this._run.history.at(-1)?.step ?? 0)) return; // already known from the state
      const { step, loss, validation, seconds } = event;
      this._add({ step, loss, validation, seconds });
      if (event.sample !== null) Object.assign(this._run, { sample: event.sample, sample_step: step });
      if (validation !== null) {
        announce(`Step ${step} of ${event.steps}: loss ${loss.toFixed(2)}, validation ${validation.toFixed(2)}.`);
        this._showTable();
        this._showSample();
      }
      this._showProgress();
    } else if (event.event === "training-ended") {
      const { step, checkpoint, stopped, error, notes } = event;
      Object.assign(this._run, { state: "ended", end: { step, checkpoint, stopped, error, notes } });
      if (checkpoint && this._page.connection.name === "browser") keepModel(this._run);
      this._showAll();
      announce(error ?? this._endText());
    }
  }

  /** @param {{step: number, loss: number, validation: number | null, seconds: number}} point */
  _add(point) {
    const history = this._run.history;
    history.push(point);
    if (history.length > MOST_POINTS) {
      this._run.history = history.filter((/** @type {any} */ { validation }, /** @type {number} */ i) =>
        i % 2 === 0 || i === history.length - 1 || validation !== null);
    }
  }

  /** Ask the server to stop. @param {object} payload */
  async _request(payload) {
    try {
      const { stopping } = await this._page.connection.request("stop", payload);
      if (stopping && this.isRunning) this._run.state = "stopping";
      this._showProgress();
    } catch (error) {
      showMessage(find(".message", this._section), reason(error));
    }
  }

  _showAll() {
    const { checkpoint, preset, start, end } = this._run;
    this._section.hidden = false;
    find("h2", this._section).textContent = this._page.form.title(preset);
    find(".about", this._section).textContent = start
      ? `Learns from ${start.data}, saved as ${checkpoint}. ${start.using} ${grouped(start.n_parameters)} parameters, ${start.vocabulary} distinct characters, ` +
        `${grouped(start.train_characters)} for training, ${grouped(start.val_characters)} for validation.`
      : "";
    showMessage(find(".message", this._section), end?.error ?? "");
    find(".notes", this._section).replaceChildren(
      ...(end?.notes ?? []).map((/** @type {string} */ note) => make("li", {}, note)));
    this._longer.hidden = !end?.checkpoint;
    if (end?.checkpoint) {
      const until = end.stopped ? start.until : 2 * end.step;
      this._longer.dataset.checkpoint = end.checkpoint;
      this._longer.dataset.until = String(until);
      this._longer.textContent = end.stopped ? `Resume: to step ${grouped(until)}` : `Train longer: to step ${grouped(until)}`;
    }
    this._showTable();
    this._showSample();
    this._showProgress();
  }

  _showProgress() {
    const { start, history, state } = this._run;
    const last = history.at(-1);
    const bar = /** @type {HTMLProgressElement} */ (find("progress", this._section));
    bar.hidden = state === "ended";
    if (start) {
      bar.max = start.until;
      bar.value = last?.step ?? start.first;
    } else {
      bar.removeAttribute("value");
    }
    this._stop.hidden = state !== "running" && state !== "starting";
    this._discard.hidden = state !== "stopping";
    find(".state", this._section).textContent = this._stateText(last);
    if (!this._willDraw) requestAnimationFrame(() => this._draw());
    this._willDraw = true;
  }

  _draw() {
    const { start, history } = this._run;
    this._willDraw = false;
    this._chart.replaceChildren(...(history.length
      ? [renderPlot(lossPlot(history, start?.until ?? 1, start?.baselines ?? []), this._chart.clientWidth)] : []));
  }

  /** @param {{step: number, loss: number, seconds: number | null} | undefined} last */
  _stateText(last) {
    const { state, start } = this._run;
    if (state === "ended") return this._endText();
    if (!start) return state === "stopping" ? "Stopping …" : "Starting: your assignments are checked where their code has changed …";
    const step = last?.step ?? start.first;
    const text = `Step ${grouped(step)} of ${grouped(start.until)}`;
    if (state === "stopping") return `${text}. Stopping and saving …`;
    if (!last?.seconds || step === start.first) return text;
    const left = (last.seconds / (step - start.first)) * (start.until - step);
    return `${text}, ${time(last.seconds)} so far, about ${time(left)} left`;
  }

  _endText() {
    const { end } = this._run;
    if (end.error) return "The run has ended with an error.";
    if (!end.checkpoint) return "Stopped. Nothing was saved.";
    const steps = `${end.stopped ? "Stopped" : "Done"}: ${end.checkpoint} has ${grouped(end.step)} steps.`;
    return `${steps} Write text with it below.`;
  }

  _showTable() {
    const rows = this._run.history.filter((/** @type {any} */ point) => point.validation !== null);
    find("tbody", this._section).replaceChildren(
      ...rows.map((/** @type {{step: number, loss: number, validation: number}} */ { step, loss, validation }) =>
        make("tr", {}, make("td", {}, grouped(step)), make("td", {}, loss.toFixed(4)), make("td", {}, validation.toFixed(4)))));
    find("details.numbers", this._section).hidden = rows.length === 0;
  }

  _showSample() {
    const { sample, sample_step } = this._run;
    find("figure.sample", this._section).hidden = !sample;
    find("figure.sample figcaption", this._section).textContent = `What it writes after ${grouped(sample_step)} steps`;
    showText(find("figure.sample pre", this._section), sample.replace(/^\n+/, ""));
  }
}
