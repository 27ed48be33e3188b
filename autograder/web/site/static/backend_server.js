// The back end of `headway serve`: requests to the local server, and its events.
//
// A browser allows six connections to one server. So that many tabs can be open, only one of them reads the stream of
// events, and passes them on to the others.

import { BackendError } from "./backend_error.js";

const LOST = "The connection to headway serve is lost. Is it still running in your terminal?";
const ANOTHER_SERVER = "headway serve was started again. Open the address that it has printed in your terminal.";
const LATE_MILLISECONDS = 500;
const RETRY_MILLISECONDS = [250, 500, 1000, 2000, 4000];

class ServerBackend {
  name = "server";
  canInterrupt = true;

  /** @param {import("./connection.js").Page} page @param {string} token */
  constructor(page, token) {
    this._page = page;
    this._headers = { "X-Headway-Token": token, "X-Headway-Page": pageId() };
    this._shared = `headway:${token.slice(0, 8)}`; // the name of the channel and of the lock
    this._channel = new BroadcastChannel(this._shared);
    this._channel.onmessage = ({ data }) => this._receive(data);
    /** @type {((event: any) => void) | null} */
    this._callback = null;
    this._isEnded = false;
  }

  /** Send a request, and return the reply. @param {string} action @param {object} [payload] @returns {Promise<any>} */
  async request(action, payload = {}) {
    const headers = { ...this._headers, "Content-Type": "application/json" };
    let response, reply;
    try {
      response = await fetch(`api/${action}`, { method: "POST", headers, body: JSON.stringify(payload) });
      const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
      reply = isJson ? await response.json() : { error: await response.text() };
    } catch {
      throw new BackendError(LOST, { lost: true });
    }
    if (response.ok && !reply.cancelled) return reply;
    if (isOtherServer(response)) throw new BackendError(ANOTHER_SERVER, { lost: true });
    throw new BackendError(reply.cancelled ?? reply.error.trim());
  }

  /** Call back with every event. @param {(event: any) => void} callback */
  listen(callback) {
    this._callback = callback;
    const begin = performance.now();
    // Without locks, every tab reads the stream.
    if (!navigator.locks) this._follow(false);
    else navigator.locks.request(this._shared, () => this._follow(performance.now() - begin > LATE_MILLISECONDS));
  }

  /**
   * Read the stream of events until the server ends; connect again if it breaks off.
   * @param {boolean} isLate whether another tab has read it until now, so that an event may be missing
   */
  async _follow(isLate) {
    for (let failures = 0; !this._isEnded; failures++) {
      try {
        const response = await fetch("api/events", { headers: this._headers });
        if (isOtherServer(response)) return this._pass({ event: "stopped", message: ANOTHER_SERVER });
        if (!response.ok || !response.body) throw new Error(response.statusText);
        if (failures || isLate) this._pass({ event: "missed" });
        failures = 0;
        isLate = false;
        for await (const event of readEvents(response.body)) this._pass(event);
      } catch {
        // The server has ended, or the computer was asleep.
      }
      if (failures >= RETRY_MILLISECONDS.length) return this._pass({ event: "stopped", message: LOST });
      if (!this._isEnded) await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS[failures]));
    }
  }

  /** Take an event from the stream, for this tab and the others. @param {any} event */
  _pass(event) {
    this._channel.postMessage(event);
    this._receive(event);
  }

  /** @param {any} event */
  _receive(event) {
    if (this._isEnded || !this._callback) return;
    const isOwn = event.page === this._headers["X-Headway-Page"];
    if (event.event === "missed") {
      this._readAgain();
    } else if (event.event === "stopped") {
      this._isEnded = true;
      this._channel.close();
      this._callback(event);
    } else if (event.event === "changed" ? !isOwn : event.event !== "countdown" || isOwn) {
      this._callback(event);
    }
  }

  /** Report the state of the files as if all of it had just changed; a page without files asks for what it needs. */
  async _readAgain() {
    if (!this._page.module) {
      this._callback?.({ event: "missed" });
      return;
    }
    try {
      const { module, cells, statuses, points } = await this.request("open", { module: this._page.module });
      this._callback?.({ event: "changed", module, cells, statuses, points, notes: [] });
    } catch {
      // The stream will report a lost server, and the page the reason why a file cannot be read.
    }
  }
}

/** A name for this tab, with which the server marks the events that its requests cause. */
function pageId() {
  return Array.from(crypto.getRandomValues(new Uint32Array(3)), (part) => part.toString(36)).join("-");
}

/** Whether the response comes from another run of the server, which does not know this page. @param {Response} response */
function isOtherServer(response) {
  return response.status === 403 || response.status === 404;
}

/** Yield the events of a stream in the format `text/event-stream`. @param {ReadableStream<Uint8Array>} body */
async function* readEvents(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (text + decoder.decode(value, { stream: true })).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      if (block.startsWith("data: ")) yield JSON.parse(block.slice("data: ".length));
    }
  }
}

/** Return the back end of a page that the local server has sent. @param {import("./connection.js").Page} page */
export async function connect(page) {
  const meta = document.querySelector('meta[name="headway-token"]');
  return new ServerBackend(page, meta?.getAttribute("content") ?? "");
}
