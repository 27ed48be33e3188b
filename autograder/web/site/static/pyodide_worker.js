// The worker in which Python runs. It answers the requests of backend_browser.js, one at a time.
//
// It downloads nothing: the page sends the verified bytes of every file. Pyodide's loader asks for its files by fetch and
// import, so it gets them from here.

const SITE_PACKAGES = "/lib/python3.13/site-packages";
const WORKSPACE = "/home/pyodide/my-gpt";
const SIGALRM = 14; // `web/browser/call_watch.py` stops a call that takes too long at one of these signals
const TICK_MILLISECONDS = 100;
const COURSE = `${SITE_PACKAGES}/autograder/courses/transformer`;

/**
 * Start Pyodide from the bytes of its files.
 * @param {Record<string, ArrayBuffer>} core pyodide.mjs, pyodide.asm.js, pyodide.asm.wasm and python_stdlib.zip
 */
export async function loadFromBytes(core) {
  const files = "https://pyodide.invalid/"; // Nothing is loaded from this address: `fetch` below answers.
  /** @type {Record<string, string>} */
  const types = { "pyodide.asm.wasm": "application/wasm" };
  self.fetch = async (request) => {
    const name = String(request instanceof Request ? request.url : request).replace(/^.*\//, "");
    if (!(name in core)) {
      throw new TypeError(`Python in this page has no network: ${name}`);
    }
    return new Response(core[name], { headers: { "Content-Type": types[name] ?? "application/octet-stream" } });
  };
  // Pyodide's loader only warns and then waits forever if its WebAssembly cannot start, for want of memory for example.
  const failure = new Promise((_, reject) => {
    WebAssembly.instantiateStreaming = async (_response, imports) => {
      try {
        return await WebAssembly.instantiate(core["pyodide.asm.wasm"], imports);
      } catch (error) {
        reject(error);
        throw error;
      }
    };
  });
  const { loadPyodide } = await importBytes(core["pyodide.mjs"]);
  await importBytes(core["pyodide.asm.js"]);
  const lockFileContents = {
    info: { abi_version: "2025_0", arch: "wasm32", platform: "emscripten_4_0_9", python: "3.13.2", version: "0.28.3" },
    packages: {},
  };
  const env = { HEADWAY_DATA: "/data" }; // a folder of downloaded texts, which a browser does not have
  const starting = loadPyodide({ indexURL: files, lockFileContents, env, stdout: () => {}, stderr: () => {} });
  return Promise.race([starting, failure]);
}

/** @param {ArrayBuffer} source of a JavaScript module */
async function importBytes(source) {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** What Python asks in every loop for a signal. No other thread could send one: this makes up that of a timer. */
class Ticks {
  #next = 0;

  get 0() {
    if (performance.now() < this.#next) return 0;
    this.#next = performance.now() + TICK_MILLISECONDS;
    return SIGALRM;
  }

  set 0(_) {} // Python has taken note of the signal.
}

/** Python, with Headway in it. */
export class PythonSide {
  /** @param {any} pyodide @param {(event: object) => void} notify sends an event to the page at once */
  constructor(pyodide, notify) {
    this.pyodide = pyodide;
    this.notify = notify;
    this.page = null;
  }

  /**
   * Unpack the packages, write the kept files, and import Headway.
   * @param {{wheels: ArrayBuffer[], archives: ArrayBuffer[], answers: Record<string, ArrayBuffer>,
   *          files: Map<string, Uint8Array>}} parts
   */
  start({ wheels, archives, answers, files }) {
    const unpack = (/** @type {ArrayBuffer[]} */ contents, /** @type {string} */ format) =>
      contents.forEach((content) => this.pyodide.unpackArchive(content, format, { extractDir: SITE_PACKAGES }));
    unpack(wheels, "wheel");
    unpack(archives, "gztar");
    this.notify({ event: "stage", name: "unpacked" });
    this.addAnswers(answers);
    this.pyodide.FS.mkdirTree(WORKSPACE);
    this.writeFiles(files);
    const module = this.pyodide.pyimport("autograder.web.browser.page");
    this.page = module.BrowserPage(WORKSPACE, (/** @type {string} */ text) => this.notify(JSON.parse(text)));
    this.notify({ event: "stage", name: "imported" });
    return this.request("start", {});
  }

  /** @param {Record<string, ArrayBuffer>} answers the shipped answers of assignments, by name */
  addAnswers(answers) {
    for (const [name, content] of Object.entries(answers)) {
      this.pyodide.FS.mkdirTree(`${COURSE}/${name}`);
      this.pyodide.FS.writeFile(`${COURSE}/${name}/answers.memo`, new Uint8Array(content));
    }
  }

  /** @param {Map<string, Uint8Array | null>} files by path in the workspace; null removes one */
  writeFiles(files) {
    const { FS } = this.pyodide;
    for (const [path, content] of files) {
      const full = `${WORKSPACE}/${path}`;
      if (content !== null) {
        FS.mkdirTree(full.slice(0, full.lastIndexOf("/")));
        FS.writeFile(full, content);
      } else if (FS.analyzePath(full).exists) {
        FS.unlink(full);
      }
    }
  }

  /**
   * Return Python's answer, with the contents of the workspace files that changed.
   * @param {string} action
   * @param {object} payload
   */
  request(action, payload) {
    const { changed, removed, ...answer } = JSON.parse(this.page.answer(action, JSON.stringify(payload)));
    const read = (/** @type {string} */ path) => this.pyodide.FS.readFile(`${WORKSPACE}/${path}`);
    return { ...answer, removed, changed: new Map(changed.map((/** @type {string} */ path) => [path, read(path)])) };
  }
}

/**
 * Answer the page's messages.
 * @param {{postMessage: (message: any) => void, onmessage: ((event: {data: any}) => void) | null}} scope
 * @param {(core: Record<string, ArrayBuffer>) => Promise<any>} load starts Pyodide
 */
export function serve(scope, load) {
  /** @type {PythonSide} */
  let python;
  scope.onmessage = async ({ data: { id, action, payload, answers = {}, files = new Map() } }) => {
    try {
      if (action === "start") {
        const pyodide = await load(payload.core);
        pyodide.setInterruptBuffer(new Ticks());
        scope.postMessage({ event: "stage", name: "python" });
        python = new PythonSide(pyodide, (event) => scope.postMessage(event));
        scope.postMessage({ id, ...python.start({ ...payload, answers, files }) });
        return;
      }
      python.addAnswers(answers);
      python.writeFiles(files);
      scope.postMessage({ id, ...python.request(action, payload) });
    } catch (error) {
      // Python reports its own errors as an answer: it has stopped, or there is no memory left.
      scope.postMessage({ id, crash: String(error) });
    }
  };
}

if (typeof WorkerGlobalScope !== "undefined" && self instanceof WorkerGlobalScope) {
  serve(/** @type {any} */ (self), loadFromBytes);
}
