// The page's connection to its back end: it notices when the back end is lost, and connects again when asked.

import { connect } from "./backend.js";
import { BackendError } from "./backend_error.js";

/**
 * @typedef {object} Listeners
 * @property {(event: any) => void} onEvent
 * @property {(message: string) => void} onLost nothing answers any more
 */

export class Connection {
  /** @param {import("./backend.js").Page} page @param {Listeners} listeners */
  constructor(page, listeners) {
    this._page = page;
    this._listeners = listeners;
    /** @type {import("./backend.js").Backend | null} */
    this._backend = null;
    this.isLost = false;
  }

  get name() {
    return this._backend?.name ?? "";
  }

  /** Whether a check can be cancelled at no cost. */
  get canInterrupt() {
    return this._backend?.canInterrupt ?? false;
  }

  /** Connect, for the first time or again. Returns whether the page has a back end at all. */
  async start() {
    const backend = await connect(this._page);
    this._backend = backend;
    this.isLost = false;
    backend?.listen((event) => {
      if (backend !== this._backend) return; // of a connection that was given up
      if (event.event === "stopped") this._lose(event.message);
      else this._listeners.onEvent(event);
    });
    return backend !== null;
  }

  /**
   * Send a request, and return the reply. Throws BackendError.
   * @param {string} action
   * @param {object} [payload]
   * @returns {Promise<any>}
   */
  async request(action, payload = {}) {
    if (!this._backend || this.isLost) throw new BackendError("there is no connection. Reconnect first", { lost: true });
    try {
      return await this._backend.request(action, payload);
    } catch (error) {
      if (error instanceof BackendError && error.lost) this._lose(error.message);
      throw error;
    }
  }

  /** @param {string} message */
  _lose(message) {
    if (this.isLost) return;
    this.isLost = true;
    this._listeners.onLost(message);
  }
}
