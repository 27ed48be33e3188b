// The page's connection to its back end, which saves and checks the student's code: it notices when the back end is
// lost, and connects again when asked. The actions are described in autograder/web/lesson_backend.py.

import { BackendError } from "./backend_error.js";

/**
 * @typedef {object} Page
 * @property {string} backend "server", "browser" or "none"
 * @property {string} module the assignment that the page shows, or ""
 *
 * @typedef {object} Backend
 * @property {string} name
 * @property {boolean} canInterrupt whether a check can be cancelled at no cost
 * @property {(action: string, payload?: object) => Promise<any>} request throws BackendError
 * @property {(callback: (event: any) => void) => void} listen
 *
 * @typedef {object} Listeners
 * @property {(event: any) => void} onEvent
 * @property {(message: string) => void} onLost nothing answers any more
 */

export class Connection {
  /** @param {Page} page @param {Listeners} listeners */
  constructor(page, listeners) {
    this._page = page;
    this._listeners = listeners;
    /** @type {Backend | null} */
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
    const backend = await this._connect();
    this._backend = backend;
    this.isLost = false;
    backend?.listen((event) => {
      if (backend !== this._backend) return; // of a connection that was given up
      if (event.event === "stopped") this._lose(event.message);
      else this._listeners.onEvent(event);
    });
    return backend !== null;
  }

  /** @returns {Promise<Backend | null>} null if the page is only for reading */
  async _connect() {
    const { backend } = this._page;
    if (backend === "server") return (await import("./backend_server.js")).connect(this._page);
    return backend === "browser" ? (await import("./backend_browser.js")).connect(this._page) : null;
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
