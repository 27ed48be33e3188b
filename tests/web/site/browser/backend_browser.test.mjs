// The back end of the static site without a browser: its requests, its deadline, and what it says when something fails.
import assert from "node:assert/strict";
import { test } from "node:test";

import { BackendError } from "../../../../autograder/web/site/static/backend_error.js";
import { missingFeature, startModuleWorker } from "../../../../autograder/web/site/static/browser_features.js";
import { WorkspaceStore } from "../../../../autograder/web/site/static/browser_store.js";
import { FakeDownloads, FakeStore, FakeWorker, makeBackend, makeOpened, messageOf, settle } from "./parts.mjs";

const CHECK = { function: "softmax.softmax" };

test("the worker gets every file, and what it changes is kept", async () => {
  const { workers, store, downloads, events, opened } = await makeOpened();
  const start = workers[0].messages[0];
  assert.equal(start.action, "start");
  assert.deepEqual(start.payload.core, { "pyodide.mjs": "content of pyodide.mjs" });
  assert.deepEqual(start.payload.wheels, ["content of numpy.whl"]);
  assert.deepEqual(start.payload.archives, ["content of headway.bin"]);
  assert.deepEqual([...store.kept], [["softmax.py", "stub"]]);
  assert.deepEqual(opened.notes, []);
  assert.deepEqual(workers[0].messages.map(({ action }) => action), ["start", "open", "warm_up"]);
  assert.deepEqual(workers[0].last.answers, { softmax: "content of memo/softmax.memo" });
  assert(downloads.loaded.indexOf("memo/softmax.memo") > downloads.loaded.indexOf("headway.bin"));
  assert.deepEqual(events.map(({ event }) => event).slice(-1), ["ready"]);
});

test("kept files go to the worker when the page is opened again", async () => {
  const store = new FakeStore();
  store.kept.set("softmax.py", "mine");
  const all = makeBackend({ store });
  await settle();
  assert.equal(all.workers[0].messages[0].files.get("softmax.py"), "mine");
});

test("a check that does not return shows a countdown and is stopped", async () => {
  const { backend, workers, clock, events } = await makeOpened();
  const check = messageOf(backend.request("check", CHECK));
  const saving = backend.request("save", { function: "softmax.softmax", text: "t", digest: "d" });
  await settle();
  await clock.pass(2.9);
  assert(!events.some(({ event }) => event === "countdown"));
  await clock.pass(7.2);
  const shown = events.filter(({ event }) => event === "countdown").map(({ seconds }) => seconds);
  assert.deepEqual(shown, [7, 6, 5, 4, 3, 2, 1]);
  assert.match(await check, /^softmax\.softmax did not return within 10 s.* Your text is kept\./);
  assert(workers[0].isTerminated);
  // The new worker gets the files, the page that was open, and the request that waited.
  assert.equal(workers[1].messages[0].files.get("softmax.py"), "stub");
  await workers[1].answer();
  assert.deepEqual(workers[1].last.payload, { module: "softmax" });
  await workers[1].answer();
  assert.equal(workers[1].last.action, "save");
  await workers[1].answer({ reply: { digest: "e" }, changed: new Map([["softmax.py", "t"]]) });
  assert.deepEqual(await saving, { digest: "e" });
});

test("an experiment has a longer deadline, and needs no answers", async () => {
  const { backend, workers, clock, events } = await makeOpened();
  const run = messageOf(backend.request("run", { module: "training", name: "ablation" }));
  await settle();
  assert.deepEqual([workers[0].last.action, workers[0].last.answers], ["run", {}]);
  await clock.pass(119);
  assert(!workers[0].isTerminated);
  assert(events.some(({ event, seconds }) => event === "countdown" && seconds === 117));
  await clock.pass(1.5);
  assert.match(await run, /^training\.py did not return within 120 s.* Your text is kept\./);
  assert(workers[0].isTerminated);
});

test("a page that trains has Python work in parts, and hears Stop between them", async () => {
  const { backend, workers, store, clock, events } = makeBackend({ trains: true });
  await settle();
  const { wheels, archives } = workers[0].last.payload;
  assert.deepEqual([...wheels, ...archives].map((content) => content.replace("content of ", "")),
    ["numpy.whl", "msgspec.whl", "headway.bin", "training.bin"]);
  await workers[0].answer();
  const train = backend.request("train", { preset: "small" });
  await settle();
  await workers[0].answer({ reply: { run: 1, checkpoint: "model.safetensors" } });
  assert.equal((await train).run, 1);
  const parts = [["advance", { busy: true }], ["advance", { busy: true }], ["stop", { stopping: true }]];
  for (const [action, reply] of parts) {
    if (workers[0].messages.length === 4) backend.request("stop");
    assert.equal(workers[0].last.action, action);
    await workers[0].answer({ reply });
  }
  await workers[0].answer({ reply: { busy: false }, changed: new Map([["model.safetensors", "numbers"]]) });
  assert.equal(store.kept.get("model.safetensors"), "numbers");
  assert.equal(workers[0].last.action, "advance");
  assert.equal(workers[0].messages.length, 6);
  backend.request("train", { preset: "small" });
  await settle();
  await workers[0].answer({ reply: { run: 2, checkpoint: "model.safetensors" } });
  await clock.pass(119);
  assert(!workers[0].isTerminated);
  await clock.pass(2); // This part does not end.
  const { event, run, error } = events.find((event) => event.event === "training-ended");
  assert.deepEqual([event, run, workers[0].isTerminated], ["training-ended", 2, true]);
  assert.match(error, /^Your code did not return within 120 s/);
});

test("late messages of a replaced worker are ignored", async () => {
  const { backend, workers, clock, events } = await makeOpened();
  const check = messageOf(backend.request("check", CHECK));
  await settle();
  await clock.pass(11);
  await check;
  await workers[0].tell({ event: "statuses" });
  assert(!events.some(({ event }) => event === "statuses"));
});

test("calls that return, and steps of the search for a mistake, are not stopped", async () => {
  const { backend, workers, clock, events } = await makeOpened();
  const check = backend.request("check", CHECK);
  await settle();
  for (const step of ["call", "call", "search", "search"]) {
    await clock.pass(6);
    await workers[0].tell({ event: "progress", step });
  }
  assert(!workers[0].isTerminated);
  assert(events.some(({ event, seconds }) => event === "countdown" && seconds === null));
  const stopped = messageOf(check);
  await clock.pass(11); // No code of the student's is to blame.
  assert.equal(await stopped, "The search for the mistake took too long, so it was ended.");
});

test("opening, exporting and warming up have no deadline", async () => {
  const { backend, workers, clock } = await makeOpened();
  const exported = backend.request("export");
  await settle();
  await clock.pass(100);
  await workers[0].answer({ reply: { name: "my-gpt.zip" } });
  assert.equal((await exported).name, "my-gpt.zip");
});

test("cancel stops the check", async () => {
  const { backend, workers } = await makeOpened();
  const check = messageOf(backend.request("check", CHECK));
  await settle();
  assert.deepEqual(await backend.request("cancel"), {});
  assert.equal(await check, "softmax.softmax was stopped.");
  assert(workers[0].isTerminated && workers.length === 2);
});

for (const [reason, expected] of [
  ["RangeError: Maximum call stack size exceeded", /softmax\.softmax calls itself without an end.* Your text is kept\./],
  ["Error: out of memory", /There was not enough memory for softmax\.softmax/],
  ["PythonError: Traceback\nSystemError: unknown", /Python stopped while it ran softmax\.softmax \(SystemError: unknown\)/],
]) {
  test(`a crash costs that check: ${reason.split("\n")[0]}`, async () => {
    const { backend, workers } = await makeOpened();
    const check = messageOf(backend.request("check", CHECK));
    await settle();
    workers[0].onmessage({ data: { id: workers[0].last.id, crash: reason } });
    assert.match(await check, expected);
    assert(workers[0].isTerminated && workers.length === 2);
  });
}

test("a worker that dies costs that check", async () => {
  const { backend, workers } = await makeOpened();
  const check = messageOf(backend.request("check", CHECK));
  await settle();
  workers[0].onerror({ message: "" });
  assert.match(await check, /Python stopped while it ran softmax\.softmax/);
});

test("an error of Python is the message, and the worker stays", async () => {
  const { backend, workers } = await makeOpened();
  const check = backend.request("check", CHECK);
  await settle();
  await workers[0].answer({ error: "softmax.py cannot be read" });
  await assert.rejects(check, new BackendError("softmax.py cannot be read"));
  assert(!workers[0].isTerminated);
});

test("answers that a check turns out to need are downloaded, and it is sent again", async () => {
  const { backend, workers } = await makeOpened();
  const check = backend.request("check", CHECK);
  await settle();
  await workers[0].answer({ need: ["attention"] });
  assert.deepEqual(workers[0].last.answers, { attention: "content of memo/attention.memo" });
  await workers[0].answer({ reply: { report: "r" } });
  assert.deepEqual(await check, { report: "r" });
  const again = messageOf(backend.request("check", CHECK));
  await settle();
  await workers[0].answer({ need: ["attention"] });
  assert.match(await again, /right answers of attention are missing/);
});

test("another tab's files reach the worker, and its events the page", async () => {
  const { workers, store, events } = await makeOpened();
  store.kept.set("softmax.py", "theirs");
  store.tellOfFiles(["softmax.py", "gone.py"]);
  await settle();
  assert.equal(workers[0].last.action, "refresh");
  assert.deepEqual([...workers[0].last.files], [["softmax.py", "theirs"], ["gone.py", null]]);
  await workers[0].answer({ reply: {}, events: [{ event: "changed", module: "softmax" }] });
  assert.equal(events[events.length - 1].event, "changed");
});

test("without storage the page says that the work is lost when it is closed", async () => {
  const store = new WorkspaceStore("name", {});
  const { opened } = await makeOpened({ store });
  assert.match(opened.notes[0], /private window.*your work is lost/);
  const failing = { open: () => { throw new DOMException("denied", "SecurityError"); } };
  const refused = new WorkspaceStore("name", { indexedDB: failing });
  assert.equal((await refused.open()).size, 0);
  assert.match(refused.problem, /Export it first/);
});

test("storage that fails later is a notice", async () => {
  const { backend, workers, store, events } = await makeOpened();
  store.write = async () => { store.problem = "full"; };
  const saving = backend.request("save", CHECK);
  await settle();
  await workers[0].answer();
  await saving;
  assert.deepEqual(events[events.length - 1], { event: "notice", message: "full" });
});

test("a download that fails stops the back end with its message", async () => {
  const downloads = new FakeDownloads();
  downloads.problem = new BackendError("pyodide.mjs could not be loaded from cdn.jsdelivr.net.");
  const all = makeBackend({ downloads });
  const message = await messageOf(all.backend.request("open", { module: "softmax" }));
  assert.equal(message, "pyodide.mjs could not be loaded from cdn.jsdelivr.net.");
  assert.deepEqual(all.events[all.events.length - 1], { event: "stopped", message });
  all.downloads.onProgress({ loaded: 1e6, total: 2e6 }); // Other files are still on their way.
  assert.equal(all.events[all.events.length - 1].event, "stopped");
  let late;
  all.backend.listen((event) => (late = event)); // A page that connects later is told, too.
  assert.equal(late.event, "stopped");
  assert(all.store.isClosed);
});

for (const [crash, expected] of [
  ["RangeError: WebAssembly.Memory(): could not allocate memory", /not enough memory for Python in this browser/],
  ["TypeError: failed", /Python could not be started in this browser \(TypeError: failed\)/],
]) {
  test(`a start that fails is one line: ${crash}`, async () => {
    const all = makeBackend();
    const opening = all.backend.request("open", { module: "softmax" });
    const error = assert.rejects(opening, (error) => expected.test(error.message) && error.lost);
    await settle();
    all.workers[0].onmessage({ data: { id: all.workers[0].last.id, crash } });
    await error;
    assert(all.workers[0].isTerminated);
  });
}

test("an old browser is told so", async () => {
  class OldWorker extends FakeWorker {} // It does not read the option `type`.
  globalThis.Worker = OldWorker;
  assert.throws(() => startModuleWorker(new URL("https://example.org/w.js")), /too old to run Python/);
  const { WebAssembly } = globalThis;
  delete globalThis.WebAssembly;
  assert.match(missingFeature(), /too old/);
  globalThis.WebAssembly = WebAssembly;
  assert.equal(missingFeature(), "");
  const all = makeBackend({ missing: () => "too old" });
  assert.equal(await messageOf(all.backend.request("open", {})), "too old");
  assert.deepEqual(all.downloads.loaded, []);
});

test("a page without https cannot verify what it downloads", () => {
  globalThis.Worker = FakeWorker;
  const { crypto } = globalThis;
  Object.defineProperty(globalThis, "crypto", { value: {}, configurable: true });
  assert.match(missingFeature(), /must be opened with https/);
  Object.defineProperty(globalThis, "crypto", { value: crypto, configurable: true });
});
