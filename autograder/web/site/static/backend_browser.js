// The back end of the static site: Python runs in this browser, in a worker; nothing leaves it.
//
// Requests are sent one at a time. A worker that does not answer a request in time, or dies, is replaced, and gets the
// files of the workspace, which this page has, too.
import { BackendError } from "./backend_error.js";
import { Downloads } from "./browser_downloads.js";
import { missingFeature, startModuleWorker } from "./browser_features.js";
import { WorkspaceStore } from "./browser_store.js";

const DEADLINE_SECONDS = 10;
const TICK_MILLISECONDS = 250;
const COUNTDOWN_AFTER_SECONDS = 3; // Until then, Python itself stops a loop.
const EXPERIMENT_SECONDS = 120; // also for a part of a run, whose functions have passed their checks
const RUNS_STUDENT_CODE = new Set(["advance", "check", "draw", "plots", "run", "solution"]);

/**
 * What the back end uses of the browser; tests replace it.
 * @typedef {object} Parts
 * @property {Downloads} downloads
 * @property {WorkspaceStore} store
 * @property {() => Worker} startWorker
 * @property {() => string} [missing] what this browser lacks, in one line; empty if nothing
 * @property {{now: () => number, setTimeout: Function, clearTimeout: Function}} [clock]
 * @property {number} [seconds] the deadline of a request; that of an experiment is EXPERIMENT_SECONDS
 * @property {boolean} [trains] whether the page trains models, for which Python needs more
 *
 * A request that the worker is answering.
 * @typedef {object} Pending
 * @property {number} id
 * @property {string} action
 * @property {string} asked the function or the file that the request is about, or ""
 * @property {number} progress when the worker last reported a call of student code, or a step of the search for a mistake
 * @property {string} step which of them, "call" or "search"
 * @property {number} shown the seconds that the countdown shows
 * @property {(answer: any) => void} resolve
 * @property {(error: BackendError) => void} reject
 */

const systemClock = {
  now: () => performance.now(),
  setTimeout: globalThis.setTimeout.bind(globalThis),
  clearTimeout: globalThis.clearTimeout.bind(globalThis),
};

/** Answers requests with Python in a worker of this page. */
export class BrowserBackend {
  name = "browser";
  canInterrupt = false; // Python would have to start again.
  /** @type {Set<(event: any) => void>} */
  #listeners = new Set();
  /** @type {any} */
  #loading = null; // the latest event of the start, for listeners that come late
  /** @type {Worker | null} */
  #worker = null;
  /** @type {Promise<void>} */
  #started;
  /** @type {Promise<any>} */
  #last = Promise.resolve();
  /** @type {Pending | null} */
  #pending = null;
  /** @type {any} */
  #index = null;
  /** @type {Map<string, Uint8Array>} */
  #files = new Map();
  /** @type {Record<string, ArrayBuffer>} */
  #answers = {}; // the shipped answers that were downloaded, by assignment
  /** @type {Set<string>} */
  #sent = new Set(); // the assignments whose answers the worker has
  /** @type {any} */
  #opened = null; // the payload of the latest `open`, which a new worker gets, too
  #number = 0;
  /** @type {any} */
  #timer = null;
  /** @type {{run?: number, generation?: number} | null} */
  #working = null; // the latest run and text, while Python trains or writes

  /** @param {Parts} parts */
  constructor({ downloads, store, startWorker, missing = () => "", clock = systemClock, seconds = DEADLINE_SECONDS, trains = false }) {
    this.downloads = downloads;
    this.store = store;
    this.startWorker = startWorker;
    this.missing = missing;
    this.clock = clock;
    this.seconds = seconds;
    this.trains = trains;
    downloads.onProgress = (progress) => this.#showProgress(progress);
    store.listen((paths) => this.#receiveFiles(paths));
    this.#started = this.#begin();
    this.#started.catch((error) => this.#stop(error));
  }

  /**
   * Send a request and return its reply; throw BackendError with one clear line.
   * @param {string} action
   * @param {any} payload
   * @returns {Promise<any>}
   */
  request(action, payload = {}) {
    if (action === "cancel") return this.#cancel();
    const reply = this.#last.then(() => this.#perform(action, payload));
    this.#last = reply.catch(() => {});
    return reply;
  }

  /** Call back with every event; the returned function ends that. @param {(event: any) => void} callback */
  listen(callback) {
    this.#listeners.add(callback);
    if (this.#loading) callback(this.#loading);
    return () => this.#listeners.delete(callback);
  }

  /** Python cannot be started: no request will be answered. @param {BackendError} error */
  #stop(error) {
    error.lost = true;
    this.#worker?.terminate();
    this.#worker = null;
    this.store.close();
    this.#showLoading({ event: "stopped", message: error.message });
  }

  /** @param {any} event */
  #emit(event) {
    this.#listeners.forEach((callback) => callback(event));
  }

  /** Download everything at once, and start the worker. */
  async #begin() {
    const missing = this.missing();
    if (missing) throw new BackendError(missing);
    const kept = this.store.open();
    this.#index = await this.downloads.index();
    const needed = this.#index.downloads.filter((/** @type {any} */ { training }) => this.trains || !training);
    this.#index.downloads = needed;
    await Promise.all(needed.map((/** @type {any} */ entry) => this.downloads.get(entry)));
    this.#files = await kept;
    await this.#startPython();
  }

  /** @param {{loaded: number, total: number}} progress */
  #showProgress({ loaded, total }) {
    if (!this.#worker && this.#loading?.event !== "stopped") {
      const megabytes = (/** @type {number} */ bytes) => Math.round(bytes / 1e6);
      const text = `loading Python: ${megabytes(loaded)} of ${megabytes(total)} MB`;
      if (text !== this.#loading?.text) {
        this.#showLoading({ event: "loading", text, loaded, total });
      }
    }
  }

  /** @param {any} event */
  #showLoading(event) {
    this.#loading = event;
    this.#emit(event);
  }

  async #startPython() {
    this.#showLoading({ event: "loading", text: "starting Python" });
    /** @type {Record<string, ArrayBuffer>} */
    const core = {};
    const wheels = [];
    const archives = [];
    for (const entry of this.#index.downloads) {
      const content = await this.downloads.get(entry);
      if (entry.wheel) wheels.push(content);
      else if (entry.name) core[entry.name] = content;
      else archives.push(content);
    }
    this.#worker = this.#newWorker();
    this.#sent = new Set(Object.keys(this.#answers));
    const more = { answers: this.#answers, files: this.#files };
    const started = await this.#exchange("start", { core, wheels, archives }, more);
    await this.#keep(started);
    if (started.error) throw new BackendError(started.error);
    this.#loading = null;
    this.#emit({ event: "ready" });
    if (this.#opened) {
      await this.#exchange("open", this.#opened);
      this.#prepare(this.#opened);
    }
  }

  #newWorker() {
    let worker;
    try {
      worker = this.startWorker();
    } catch (error) {
      throw error instanceof BackendError
        ? error
        : new BackendError(`Python cannot be started in this browser (${error}). Use a current version of it.`);
    }
    worker.onmessage = ({ data }) => this.#receive(worker, data);
    worker.onerror = (event) => {
      event.preventDefault?.();
      this.#crashed(worker, event.message || "its program could not be loaded");
    };
    return worker;
  }

  /** @param {string} action @param {any} payload */
  async #perform(action, payload) {
    await this.#started;
    let answer = await this.#exchange(action, payload, { answers: await this.#answersFor(action, payload) });
    while (answer.need) {
      const missing = answer.need.filter((/** @type {string} */ name) => !this.#sent.has(name));
      if (!missing.length) {
        throw new BackendError(`The right answers of ${answer.need.join(", ")} are missing. Please report this.`);
      }
      answer = await this.#exchange(action, payload, { answers: await this.#download(missing) });
    }
    await this.#keep(answer);
    if (answer.error) throw new BackendError(answer.error);
    if (answer.reply.generation || Number.isInteger(answer.reply.run)) this.#work(answer.reply);
    if (action === "training") answer.reply.problem = this.store.problem;
    if (action === "open") {
      this.#opened = payload;
      this.#prepare(payload);
      answer.reply.notes = [...(answer.reply.notes ?? []), ...(this.store.problem ? [this.store.problem] : [])];
    }
    return answer.reply;
  }

  /**
   * Have Python train and write, in parts: between two of them it hears other requests, such as Stop.
   * @param {{run?: number, generation?: number}} begun
   */
  async #work(begun) {
    const isWorking = this.#working !== null;
    this.#working = { ...this.#working, ...begun };
    if (isWorking) return;
    try {
      while ((await this.request("advance")).busy);
    } catch (error) { // Python was stopped, and has forgotten what it did.
      const end = { stopped: false, error: error instanceof BackendError ? error.message : String(error), notes: [] };
      const { run, generation } = this.#working;
      if (run) this.#emit({ event: "training-ended", run, step: null, checkpoint: null, ...end });
      if (generation) this.#emit({ event: "generation-ended", generation, ...end });
    }
    this.#working = null;
  }

  /**
   * After a page was opened: load what its checks need, and make the first check as fast as later ones.
   * @param {{module: string}} payload
   */
  #prepare({ module }) {
    if (this.#index.needs[module]) {
      this.request("warm_up", { module }).catch(() => {}); // A check says what is wrong.
    }
  }

  /**
   * Return the answers that a check of the named function or assignment needs and the worker does not have yet.
   * @param {string} action
   * @param {{function?: string, module?: string}} payload
   */
  async #answersFor(action, payload) {
    const module = action === "open" || action === "run" ? "" : (payload.module ?? payload.function?.split(".")[0]);
    const needs = this.#index.needs[module ?? ""] ?? [];
    return this.#download(needs.filter((/** @type {string} */ name) => !this.#sent.has(name)));
  }

  /** @param {string[]} names of assignments */
  async #download(names) {
    const entries = names.filter((name) => this.#index.answers[name]);
    const contents = await Promise.all(entries.map((name) => this.downloads.get(this.#index.answers[name])));
    const answers = Object.fromEntries(entries.map((name, i) => [name, contents[i]]));
    Object.assign(this.#answers, answers);
    names.forEach((name) => this.#sent.add(name));
    return answers;
  }

  /**
   * Send one message to the worker and return its answer; throw BackendError at the deadline.
   * @param {string} action
   * @param {any} payload
   * @param {{answers?: Record<string, ArrayBuffer>, files?: Map<string, Uint8Array | null>}} [more]
   * @returns {Promise<any>}
   */
  #exchange(action, payload, { answers = {}, files = new Map() } = {}) {
    return new Promise((resolve, reject) => {
      const now = this.clock.now();
      const asked = payload.function ?? (action === "run" ? `${payload.module}.py` : "");
      const id = (this.#number += 1);
      this.#pending = { id, action, asked, progress: now, step: "call", shown: 0, resolve, reject };
      this.#worker?.postMessage({ id, action, payload, answers, files });
      this.#tick();
    });
  }

  /** Show the countdown of the current request, and end it at the deadline. */
  #tick() {
    this.clock.clearTimeout(this.#timer);
    const pending = this.#pending;
    if (!pending || !RUNS_STUDENT_CODE.has(pending.action)) return;
    const waited = (this.clock.now() - pending.progress) / 1000;
    const seconds = ["advance", "run"].includes(pending.action) ? EXPERIMENT_SECONDS : this.seconds;
    const left = seconds - waited;
    if (left <= 0) {
      const stopped = pending.step === "search"
        ? "The search for the mistake took too long, so it was ended."
        : `${pending.asked || "Your code"} did not return within ${seconds} s, so it was stopped. Your text is kept. ` +
          "Look for a loop, or a function that calls itself, without an end.";
      return this.#replaceWorker(stopped);
    }
    if (waited >= COUNTDOWN_AFTER_SECONDS && Math.ceil(left) !== pending.shown) {
      pending.shown = Math.ceil(left);
      this.#emit({ event: "countdown", seconds: pending.shown, function: pending.asked });
    }
    this.#timer = this.clock.setTimeout(() => this.#tick(), TICK_MILLISECONDS);
  }

  /** @param {Worker} worker @param {any} message */
  #receive(worker, message) {
    if (worker !== this.#worker) return; // It was replaced.
    const pending = this.#pending;
    if (message.event === "progress") {
      if (pending) {
        pending.progress = this.clock.now();
        pending.step = message.step;
        if (pending.shown) {
          pending.shown = 0;
          this.#emit({ event: "countdown", seconds: null });
        }
      }
    } else if (message.event) {
      this.#emit(message);
    } else if (pending && message.id === pending.id) {
      if (message.crash) {
        this.#crashed(worker, message.crash);
      } else {
        this.#pending = null;
        this.clock.clearTimeout(this.#timer);
        pending.resolve(message);
      }
    }
  }

  /** @param {Worker} worker @param {string} reason */
  #crashed(worker, reason) {
    if (worker !== this.#worker) return;
    const pending = this.#pending;
    const memory = /memory|RangeError: Array buffer|allocation/i.test(reason);
    if (pending?.action === "start") {
      this.#pending = null;
      const text = memory
        ? "There is not enough memory for Python in this browser. Close other tabs, then reload the page."
        : `Python could not be started in this browser (${oneLine(reason)}). Use a current version of it.`;
      pending.reject(new BackendError(text));
      return;
    }
    const what = pending?.asked || "your code";
    let text = `Python stopped while it ran ${what} (${oneLine(reason)}), so it was started again.`;
    if (memory) {
      text = `There was not enough memory for ${what}, so Python was started again.`;
    } else if (/call stack|recursion/i.test(reason)) {
      text = `${what} calls itself without an end, so Python had to be started again.`;
    }
    this.#replaceWorker(`${text} Your text is kept.`);
  }

  /** Reject the current request and start a new worker with the same files. @param {string} message */
  #replaceWorker(message) {
    const pending = this.#pending;
    this.#worker?.terminate();
    this.#worker = this.#pending = null;
    this.clock.clearTimeout(this.#timer);
    this.#started = this.#startPython();
    this.#started.catch((error) => this.#stop(error));
    pending?.reject(new BackendError(message));
  }

  async #cancel() {
    if (this.#pending && this.#pending.action !== "start") {
      this.#replaceWorker(`${this.#pending.asked || "The request"} was stopped.`);
    }
    return {};
  }

  /**
   * Keep the files that Python has changed, then pass on its events.
   * @param {{changed?: Map<string, Uint8Array>, removed?: string[], events?: any[]}} answer
   */
  async #keep({ changed = new Map(), removed = [], events = [] }) {
    changed.forEach((content, path) => this.#files.set(path, content));
    removed.forEach((path) => this.#files.delete(path));
    const problem = this.store.problem;
    await this.store.write(changed, removed);
    if (this.store.problem !== problem) {
      this.#emit({ event: "notice", message: this.store.problem });
    }
    events.forEach((event) => this.#emit(event));
  }

  /** Pass on files that another tab has written. @param {string[]} paths */
  #receiveFiles(paths) {
    this.#last = this.#last
      .then(() => this.#started)
      .then(() => this.store.read(paths))
      .then((files) => {
        files.forEach((content, path) => (content ? this.#files.set(path, content) : this.#files.delete(path)));
        return this.#exchange("refresh", {}, { files });
      })
      .then((answer) => this.#keep(answer))
      .catch(() => {});
  }
}

/** @param {string} text */
function oneLine(text) {
  const lines = text.trim().split("\n");
  return lines[lines.length - 1].slice(0, 200);
}

const assets = new URL("./", import.meta.url);
const downloads = new Downloads(assets); // When the page connects again, it need not load again what it has.

/** Return a back end for this page; it downloads Python in the background. @param {import("./connection.js").Page} page */
export async function connect(page) {
  return new BrowserBackend({
    downloads,
    store: new WorkspaceStore(`headway ${new URL("../", assets).pathname}`),
    startWorker: () => startModuleWorker(new URL("pyodide_worker.js", assets)),
    missing: missingFeature,
    trains: !page.module,
  });
}
