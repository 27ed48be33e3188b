// The page that trains a model and writes text with it. What answers it: autograder/models/page/runs.py.

import { Connection } from "./connection.js";
import { button, reason } from "./dom.js";
import { find, showMessage } from "./training_dom.js";
import { RunForm } from "./training_form.js";
import { RunView } from "./training_run.js";
import { TextForm } from "./training_text.js";

const RECONNECT = "Reconnect";
const QUIET_SECONDS = 5; // without an event of what is running, after which the page asks for the state

class TrainingPage {
  constructor() {
    this.connection = new Connection({ backend: document.documentElement.dataset.backend ?? "none", module: "" }, {
      onEvent: (event) => this._receive(event),
      onLost: (message) => this._showLost(message),
    });
    this.run = new RunView(this);
    this.form = new RunForm(this);
    this.text = new TextForm(this);
    /** @type {any[]} events that arrived before the state they belong to */
    this._early = [];
    this._isReady = false;
    this._isQuiet = true; // no event since the state was asked for the last time
    setInterval(() => this._askIfQuiet(), QUIET_SECONDS * 1000);
    addEventListener("beforeunload", (event) => {
      if (this.connection.name === "browser" && this.run.isRunning) event.preventDefault(); // The run would be lost.
    });
  }

  /** Connect, for the first time or again, and show everything as it is. */
  async start() {
    const place = find("#connection");
    this._isReady = false;
    this._early = [];
    try {
      await this.connection.start();
      const state = await this.connection.request("training");
      showMessage(place, state.problem ?? "");
      this.form.show(state);
      await this._showState(state);
    } catch (error) {
      this._showLost(reason(error));
      return;
    }
    this._isReady = true;
    this._early.splice(0).forEach((event) => this._receive(event));
  }

  /** @param {any} state */
  async _showState(state) {
    this.run.showState(state.run);
    this.form.setRunning(this.run.isRunning);
    this.text.setRunning(state.generating);
    await this.refreshModels();
  }

  /** Ask for the state if something seems to run, and no event has arrived for some time: one may have been lost. */
  _askIfQuiet() {
    const wasQuiet = this._isQuiet;
    this._isQuiet = true;
    if (wasQuiet && (this.run.isRunning || this.text.isRunning)) this._askForState();
  }

  async _askForState() {
    if (!this._isReady || this.connection.isLost) return;
    this._isQuiet = true;
    try {
      const state = await this.connection.request("training");
      if (this._isQuiet) await this._showState(state);
    } catch {
      // The connection reports a lost server.
    }
  }

  /** Read the list of models again. */
  async refreshModels() {
    this.text.showModels((await this.connection.request("checkpoints")).checkpoints);
  }

  /** @param {any} event */
  _receive(event) {
    this._isQuiet = false;
    if (["loading", "notice", "ready"].includes(event.event)) {
      showMessage(find("#connection"), event.message ?? (event.text ? `${event.text} …` : ""));
    } else if (!this._isReady) {
      this._early.push(event);
    } else if (event.event === "missed") {
      this._askForState();
    } else if (event.event.startsWith("training")) {
      this.run.receive(event);
      this.form.setRunning(this.run.isRunning);
      if (event.event === "training-ended") this.refreshModels().catch(() => {});
    } else if (event.event.startsWith("generation")) {
      this.text.receive(event);
    }
  }

  /** @param {string} message */
  _showLost(message) {
    const place = find("#connection");
    showMessage(place, `${message} `);
    place.append(button(RECONNECT, () => this.start()));
  }
}

if (document.documentElement.dataset.backend !== "none") new TrainingPage().start();
