// The program of a lesson page: it connects to the back end and turns each cell into an editor.

import { archivePanel } from "./archive.js";
import { BackendError } from "./backend_error.js";
import { Cell } from "./cell.js";
import { CheckQueue } from "./check_queue.js";
import { Connection } from "./connection.js";
import { button, make } from "./dom.js";
import { Experiment } from "./experiment.js";
import { Progress } from "./progress.js";
import { Drafts } from "./saved_text.js";

class Lesson {
  /** @param {string} module @param {string} backend */
  constructor(module, backend) {
    this._module = module;
    this._contents = document.querySelector("nav.contents");
    this._state = /** @type {HTMLElement} */ (document.querySelector(".backend-state"));
    this._state.className = "backend-state";
    this._state.textContent = "";
    this.progress = new Progress(module, this._contents);
    this.queue = new CheckQueue();
    this.connection = new Connection({ backend, module }, {
      onEvent: (event) => this._receive(event), onLost: (message) => this._showLost(message),
    });
    this._drafts = new Drafts(module);
    this._loading = ""; // what the back end is doing before it can check
    /** @type {string[]} */
    this._features = [];
    /** @type {Cell[]} */
    this.cells = [];
    /** @type {import("./plots.js").Plot[]} */
    this._plots = [];
  }

  /** Connect, for the first time or again, and show what the back end knows. */
  async start() {
    try {
      if (!(await this.connection.start())) return;
      this._show(await this._open());
      this._state.replaceChildren();
    } catch (error) {
      this._showLost(messageOf(error));
    }
  }

  /** @param {any} opened */
  _show(opened) {
    this.progress.update(opened.statuses, opened.points);
    if (this.cells.length) {
      this._showFiles(opened.cells, true);
      this._saveAll();
      return;
    }
    this._drafts = new Drafts(opened.workspace);
    this._features = opened.features;
    this._makeCells(opened.cells);
    for (const text of opened.notes) {
      const note = make("p", { class: "page-note" }, `${text} `);
      const copy = () => this._change("copy", { module: this._module }, note);
      if (opened.notebook && text === opened.notes[0]) note.append(button(`Copy it into ${this._module}.py`, copy));
      document.querySelector("main")?.prepend(note);
    }
    if (this._features.includes("plots")) this._loadPlots();
    if (this._features.includes("run")) this._makeExperiments();
    if (this._features.includes("archive")) {
      this._contents?.querySelector(".course")?.before(archivePanel({
        request: (action, payload) => this.connection.request(action, payload),
        saveAll: () => this._saveAll(),
        onImported: async () => this._show(await this._open()),
      }));
    }
    // What is not saved yet is in the tab's storage. Closing the tab would lose it, if saving has failed.
    addEventListener("beforeunload", (event) => {
      if (this.cells.some((cell) => cell.saved.isDirty && (cell.saved.failure || cell.saved.conflict))) event.preventDefault();
    });
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this._saveAll();
    });
  }

  /** @param {Record<string, import("./cell.js").FileCell>} files */
  _makeCells(files) {
    const hosts = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main .cell[data-function]"));
    for (const host of hosts) {
      const name = host.dataset.function ?? "";
      const file = files[name];
      const shown = this.cells.find((cell) => cell.functions.includes(name));
      if (shown) {
        host.replaceChildren(make("p", { class: "shared" }, "This function is in the same cell as ",
          make("a", { href: `#${shown.functions[0]}` }, make("code", {}, shown.title)), "."));
      } else if (file) {
        this.cells.push(new Cell(host, [name, ...file.shared_with], file, this._cellPage()));
      } else {
        const problem = make("p", { class: "problem", role: "alert" },
          `${this._module}.py has no function ${name.split(".")[1]} any more. `,
          button("Restore its stub", () => this._restore(host, name, problem)));
        host.querySelector(".problem")?.remove();
        host.append(problem);
      }
    }
  }

  /** Save every cell. Returns whether the file now contains what the page shows. */
  async _saveAll() {
    return (await Promise.all(this.cells.map((cell) => cell.saved.save()))).every(Boolean);
  }

  _makeExperiments() {
    const hosts = /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main .experiment"));
    for (const host of hosts) {
      new Experiment(host, {
        module: this._module, connection: this.connection, queue: this.queue, waitsFor: () => this._loading,
        saveAll: () => this._saveAll(),
      });
    }
  }

  /** @returns {import("./cell.js").CellPage} */
  _cellPage() {
    return {
      connection: this.connection,
      drafts: this._drafts,
      queue: this.queue,
      canTrain: this._features.includes("train"),
      status: (name) => this.progress.statuses[name] ?? null,
      onProgress: (reply) => this._updateProgress(reply),
      waitsFor: () => this._loading,
      onGrown: (grown, lines) => this._moveLines(grown, lines),
      onLocation: (location) => this._goTo(location),
    };
  }

  /** Put the stub of a function back that the file does not have. @param {HTMLElement} host @param {string} name @param {HTMLElement} problem */
  async _restore(host, name, problem) {
    const file = (await this._change("reset", { function: name }, problem))[name];
    if (file) this.cells.push(new Cell(host, [name], file, this._cellPage()));
  }

  /** Have the back end change the file, and show its cells, or in `note` what was wrong. @param {string} action @param {object} payload @param {HTMLElement} note */
  async _change(action, payload, note) {
    try {
      await this.connection.request(action, payload);
      const { cells } = await this._open();
      note.remove();
      await this._showFiles(cells, true);
      return cells;
    } catch (error) {
      note.textContent = messageOf(error);
      return {};
    }
  }

  /** @param {any} event */
  _receive(event) {
    if (event.event === "changed" && event.module === this._module) {
      this._showFiles(event.cells, false).catch(messageOf);
      this._state.textContent = (event.notes ?? []).join(" "); // why the file cannot be read, until it can be again
    }
    if (event.event === "countdown") this.queue.running?.expect(event.seconds);
    else if (event.event === "loading") this._showLoading(event.text);
    if (event.event === "ready") {
      this._loading = "";
      this._state.classList.remove("page-note");
      this.queue.running?.say("Checking");
      this._state.replaceChildren();
    }
    if (event.event === "notice") this._state.textContent = event.message;
    if (event.statuses) this._updateProgress(event);
  }

  /** @param {string} text what is loaded, such as "starting Python" */
  _showLoading(text) {
    this._loading = `Waiting: ${text}`;
    this._state.classList.add("page-note"); // It does not stay above the text.
    this.queue.running?.say(this._loading);
    const more = this.cells.length ? "" : " You can read already. When it is done, the functions become editors.";
    this._state.textContent = `${text[0].toUpperCase()}${text.slice(1)} …${more}`;
  }

  /**
   * Show what the cells contain in the file.
   * @param {Record<string, import("./cell.js").FileCell>} files
   * @param {boolean} isCertain false for an event, which may be older than the latest save
   */
  async _showFiles(files, isCertain) {
    const known = this.cells.map((cell) => {
      const file = files[cell.functions[0]];
      if (file) return cell.fileChanged(file, isCertain);
      cell.fileLacksCell(Object.keys(files).length > 0);
      return true;
    });
    if ((await Promise.all(known)).every(Boolean)) return;
    await this._showFiles((await this._open()).cells, true);
  }

  _open() {
    return this.connection.request("open", { module: this._module });
  }

  /** @param {{statuses: Record<string, string | null>, points?: any}} reply */
  _updateProgress({ statuses, points }) {
    this.progress.update(statuses, points);
    for (const cell of this.cells) cell.showStatus();
    this._offerPlots();
  }

  /** Shift the line numbers below a cell that has more or fewer lines than before. @param {Cell} grown @param {number} lines */
  _moveLines(grown, lines) {
    if (!lines) return;
    for (const cell of this.cells) {
      if (cell.editor.line > grown.editor.line) cell.editor.setLine(cell.editor.line + lines);
    }
  }

  /** @param {{file: string, line: number}} location */
  _goTo({ file, line }) {
    const cell = file === `${this._module}.py` ? this.cells.find(({ editor }) => editor.contains(line)) : null;
    if (cell) cell.editor.goTo(line);
    else this._state.textContent = `Line ${line} of ${file} is not in a cell of this page.`;
  }

  async _loadPlots() {
    try {
      this._plots = (await this.connection.request("plots", { module: this._module })).plots;
      this._offerPlots();
    } catch (error) {
      messageOf(error); // The page works without plots.
    }
  }

  /** Offer each plot below the last of its functions once all of them pass. */
  _offerPlots() {
    const passes = (/** @type {string} */ name) => this.progress.statuses[name] === "passed";
    for (const cell of this.cells) {
      cell.plots.offer(this._plots.filter(({ functions }) => {
        const here = functions.filter((name) => name.startsWith(`${this._module}.`));
        return functions.every(passes) && cell.functions.includes(here[here.length - 1]);
      }));
    }
  }

  /** @param {string} message */
  _showLost(message) {
    const reconnect = button("Reconnect", () => {
      this._state.textContent = "Connecting …";
      this.start();
    });
    const kept = this.cells.length ? " Your text is kept in this tab. " : " ";
    this._state.replaceChildren(make("strong", {}, message), kept, reconnect);
  }
}

/** Return why the back end refused a request, or is lost. @param {unknown} error */
function messageOf(error) {
  if (!(error instanceof BackendError)) throw error;
  return error.message;
}

const backend = document.documentElement.dataset.backend ?? "none";
const module = document.body.dataset.module;
if (module && backend !== "none") new Lesson(module, backend).start();
