// What tests give the back end in place of a browser: a clock, downloads, a store and workers that tests drive.
import { BrowserBackend } from "../../../../autograder/web/site/static/backend_browser.js";

/** Let everything that is ready run. */
export async function settle() {
  for (let i = 0; i < 50; i += 1) {
    await Promise.resolve();
  }
}

export class Clock {
  time = 0;
  timers = new Map();
  number = 0;

  now = () => this.time;

  setTimeout = (callback, milliseconds) => {
    this.number += 1;
    this.timers.set(this.number, { callback, at: this.time + milliseconds });
    return this.number;
  };

  clearTimeout = (number) => this.timers.delete(number);

  /** Let time pass, and call what is due. */
  async pass(seconds) {
    const end = this.time + seconds * 1000;
    for (;;) {
      const due = [...this.timers].filter(([, { at }]) => at <= end).sort((a, b) => a[1].at - b[1].at)[0];
      if (!due) {
        break;
      }
      this.timers.delete(due[0]);
      this.time = due[1].at;
      due[1].callback();
      await settle();
    }
    this.time = end;
    await settle();
  }
}

/** A worker that records its messages; `answer` replies to the last one. */
export class FakeWorker {
  messages = [];
  isTerminated = false;

  postMessage(message) {
    this.messages.push(message);
  }

  terminate() {
    this.isTerminated = true;
  }

  get last() {
    return this.messages[this.messages.length - 1];
  }

  async answer(answer = { reply: {} }) {
    this.onmessage({ data: { id: this.last.id, changed: new Map(), removed: [], ...answer } });
    await settle();
  }

  async tell(event) {
    this.onmessage({ data: event });
    await settle();
  }
}

export class FakeStore {
  problem = "";
  kept = new Map();
  isClosed = false;

  open = async () => new Map(this.kept);
  read = async (paths) => new Map(paths.map((path) => [path, this.kept.get(path) ?? null]));
  listen = (callback) => (this.tellOfFiles = callback);
  close = () => (this.isClosed = true);

  async write(changed, removed) {
    changed.forEach((content, path) => this.kept.set(path, content));
    removed.forEach((path) => this.kept.delete(path));
  }
}

export class FakeDownloads {
  loaded = [];
  problem = null;
  contents = {
    downloads: [
      { name: "pyodide.mjs", url: "pyodide.mjs" },
      { name: "numpy.whl", url: "numpy.whl", wheel: true },
      { name: "msgspec.whl", url: "msgspec.whl", wheel: true, training: true },
      { url: "headway.bin" },
      { url: "training.bin", training: true },
    ],
    answers: { softmax: { url: "memo/softmax.memo" }, attention: { url: "memo/attention.memo" } },
    needs: { softmax: ["softmax"], attention: ["softmax", "attention"] },
  };

  async index() {
    if (this.problem) {
      throw this.problem;
    }
    return this.contents;
  }

  async get({ url }) {
    this.loaded.push(url);
    return `content of ${url}`;
  }
}

/** Return a back end and everything around it. */
export function makeBackend(more = {}) {
  const all = { clock: new Clock(), store: new FakeStore(), downloads: new FakeDownloads(), workers: [], events: [] };
  const startWorker = () => {
    const worker = new FakeWorker();
    all.workers.push(worker);
    return worker;
  };
  Object.assign(all, more);
  all.backend = new BrowserBackend({ startWorker, ...all });
  all.backend.listen((event) => all.events.push(event));
  return all;
}

/** Return the same, once Python has started and the softmax page was opened. */
export async function makeOpened(more = {}) {
  const all = makeBackend(more);
  await settle();
  await all.workers[0].answer({ reply: {}, changed: new Map([["softmax.py", "stub"]]) });
  const opening = all.backend.request("open", { module: "softmax" });
  await settle();
  await all.workers[0].answer({ reply: { cells: {}, notes: [] } });
  all.opened = await opening;
  await settle();
  await all.workers[0].answer(); // of warm_up
  return all;
}

/** Return the message of the error with which a promise is rejected. */
export async function messageOf(promise) {
  try {
    await promise;
  } catch (error) {
    return error.message;
  }
  throw new Error("it was not rejected");
}
