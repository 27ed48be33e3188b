// An experiment of a lesson: a button that runs it, and below its code what it prints.

import { BackendError } from "./backend_error.js";
import { CheckClock } from "./check_clock.js";
import { button, make } from "./dom.js";

/**
 * What an experiment needs of its page.
 * @typedef {object} ExperimentPage
 * @property {string} module
 * @property {import("./connection.js").Connection} connection
 * @property {import("./check_queue.js").CheckQueue} queue
 * @property {() => Promise<boolean>} saveAll whether the file now contains what the page shows
 * @property {() => string} waitsFor what the back end is doing before it can run anything, or ""
 */

export class Experiment {
  /** @param {HTMLElement} host the element with the code @param {ExperimentPage} page */
  constructor(host, page) {
    this._page = page;
    this._name = host.dataset.experiment ?? "";
    this._isStopped = this._isRunning = false;
    this._run = button("Run", () => this._request(), { class: "run" });
    this._stop = button("Stop", () => this._requestStop(), { class: "stop", hidden: true });
    this._state = make("span", { class: "run-state", role: "status" });
    const clock = make("span", { class: "check-clock", role: "timer" });
    this._clock = new CheckClock(clock, (seconds) => ` It will be stopped in ${seconds} s.`);
    this._command = `python ${page.module}.py${this._name && ` ${this._name}`}`;
    this._output = make("pre", { class: "run-output", tabIndex: 0, hidden: true, "aria-label": `Output of ${this._command}` });
    this._error = make("pre", { class: "run-error", hidden: true, role: "alert" });
    const line = make("p", { class: "run-line" }, this._run, this._stop, make("code", {}, this._command), this._state, clock);
    host.prepend(line);
    host.append(this._output, this._error);
  }

  /** In the browser there is one Python: an experiment waits for a check. A server runs both at once. */
  _request() {
    if (this._isRunning) return undefined;
    return this._page.connection.name === "browser" ? this._page.queue.request(this) : this.check();
  }

  /** Say that a check comes first. The queue calls this. */
  waits() {
    this._state.textContent = "Waiting for another check.";
  }

  /** Save everything and run. The queue calls this. */
  async check() {
    this._isRunning = true;
    this._isStopped = false;
    this._run.disabled = true;
    try {
      if (!(await this._page.saveAll())) {
        this._state.textContent = "Not run. The text of a cell is not saved.";
        return;
      }
      this._stop.hidden = false;
      this.say(this._page.waitsFor() || "Running");
      this._clock.start();
      const request = { module: this._page.module, name: this._name };
      this._show(await this._page.connection.request("run", request));
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      this._state.textContent = this._isStopped ? "The experiment was stopped." : error.message;
    } finally {
      this._clock.stop();
      this._isRunning = this._run.disabled = false;
      if (document.activeElement === this._stop) this._run.focus();
      this._stop.hidden = true;
    }
  }

  /** @param {{output: string, seconds: number, error: string}} reply */
  _show({ output, seconds, error }) {
    this._output.textContent = output || (error ? "" : "It has printed nothing.");
    this._output.hidden = !this._output.textContent;
    this._error.textContent = error;
    this._error.hidden = !error;
    this._state.textContent = `${error ? "Ended early" : "Done"} after ${seconds.toFixed(1)} s.`;
  }

  /** Say what the back end is doing. @param {string} text */
  say(text) {
    this._state.textContent = `${text === "Checking" ? "Running" : text} …`;
  }

  /** It is stopped unless it ends in time. @param {number | null} seconds */
  expect(seconds) {
    this._clock.expect(seconds);
  }

  async _requestStop() {
    this._isStopped = true;
    this._state.textContent = "Stopping …";
    try {
      await this._page.connection.request("cancel", { only: "run" });
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      this._state.textContent = error.message;
    }
  }
}
