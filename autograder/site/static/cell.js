// One cell of a lesson: the editor of a function with its buttons, report, hints and documentation.

import { BackendError } from "./backend_error.js";
import { CheckClock } from "./check_clock.js";
import { docstring, layOut, signature } from "./documentation.js";
import { ask, button, make, points as inPoints } from "./dom.js";
import { Editor } from "./editor.js";
import { Hints } from "./hints.js";
import { Plots } from "./plots.js";
import { renderReport } from "./report.js";
import { SavedText } from "./saved_text.js";
import { conflictPanel, solutionPanel } from "./versions.js";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const SAVE_WORDS = { saved: "saved", typed: "not saved yet", saving: "saving …", failed: "not saved", conflict: "not saved" };

/**
 * @typedef {{text: string, digest: string, line: number, shared_with: string[]}} FileCell
 *
 * What a cell needs of its page.
 * @typedef {object} CellPage
 * @property {import("./connection.js").Connection} connection
 * @property {import("./saved_text.js").Drafts} drafts
 * @property {import("./check_queue.js").CheckQueue} queue
 * @property {(name: string) => string | null} status the status of a function
 * @property {(reply: any) => void} onProgress
 * @property {(cell: Cell, lines: number) => void} onGrown the cell has so many lines more in the file than before
 * @property {(location: {file: string, line: number}) => void} onLocation
 */

export class Cell {
  /**
   * @param {HTMLElement} host the element with the stub, whose content is replaced
   * @param {string[]} functions qualified names of the functions in the cell
   * @param {FileCell} file
   * @param {CellPage} page
   */
  constructor(host, functions, file, page) {
    this.host = host;
    this.functions = functions;
    this._page = page;
    this._module = functions[0].split(".")[0];
    this._stub = host.querySelector(".stub")?.textContent ?? file.text;
    this._isStopped = false;
    this._lines = lineCount(file.text);
    this.saved = new SavedText(functions[0], file, page.connection, page.drafts, {
      onState: (state, message) => this._showSaveState(state, message),
      onConflict: (version) => this._showConflict(version),
      onReplace: (text) => this._replaceText(text),
      onLine: (line) => this._afterSave(line),
    });
    this._build(file);
    const draft = this.saved.restore();
    if (draft !== null) this._restore(draft);
  }

  /** The names of the functions without their module: "pack and unpack". */
  get title() {
    return this.functions.map((name) => name.split(".")[1]).join(" and ");
  }

  /** The function that the buttons are about: the first one that does not pass. */
  get current() {
    return this.functions.find((name) => this._page.status(name) !== "passed") ?? this.functions[0];
  }

  get passes() {
    return this.functions.every((name) => this._page.status(name) === "passed");
  }

  /** @param {FileCell} file */
  _build(file) {
    const id = `leave-${this.functions[0]}`;
    this._saveState = make("span", { class: "save-state" }, SAVE_WORDS.saved);
    this._problem = make("p", { class: "problem", role: "alert" });
    this._note = make("p", { class: "note", role: "status" });
    const code = make("div", { class: "code-column" },
      make("p", { class: "cell-head" }, make("span", { class: "file" }, `${this._module}.py`), this._saveState));
    this.editor = new Editor({
      parent: code,
      text: file.text,
      line: file.line,
      label: `Code of ${this.title}`,
      describedBy: id,
      onEdit: (text) => this._type(text),
      onCheck: () => this.requestCheck(),
    });
    code.append(this._buttons(), this._problem, this._note,
      make("p", { class: "leave", id }, "Tab indents. Escape, then Tab, leaves the editor."));
    this._state = make("p", { class: "check-state", role: "status" });
    this._clockText = make("p", { class: "check-clock", role: "timer" });
    this._clock = new CheckClock(this._clockText);
    this._passed = make("div", { class: "passed", hidden: true });
    this._report = make("section", { class: "cell-report", "aria-label": `Report of ${this.title}`, hidden: true });
    this._hints = new Hints({ load: (more) => this._loadHints(more), onSolution: () => this._showSolution() });
    this._plots = new Plots((action, payload) => this._page.connection.request(action, payload));
    this._docs = make("details", { class: "docs", open: true },
      make("summary", {}, "Documentation"), ...this.functions.map((name) => this._documentation(name)));
    const side = make("div", { class: "side-column" },
      this._state, this._clockText, this._passed, this._hints.element, this._report, this._plots.element, this._docs);
    this._below = make("div", { class: "cell-below" });
    this.host.replaceChildren(make("div", { class: "columns" }, code, side), this._below);
    this.host.classList.add("ready");
    this.showStatus();
  }

  _buttons() {
    const keys = IS_MAC ? "⌘ Enter" : "Ctrl Enter";
    this._check = button("Check", () => this.requestCheck(), { class: "check", "aria-keyshortcuts": "Control+Enter" });
    this._check.append(" ", make("kbd", { "aria-hidden": "true" }, keys));
    this._stop = button("Stop", () => this._stopCheck(), { class: "stop", hidden: true });
    this._hint = button("Hint", () => this._toggleHints(), { class: "hint", "aria-expanded": "false" });
    this._compare = button("Compare with the solution", () => this._compareWithSolution(), { class: "compare" });
    this._reset = button("Reset", () => this._askToReset(), { class: "reset" });
    const label = `What to do with ${this.title}`;
    return make("div", { class: "buttons", role: "group", "aria-label": label },
      this._check, this._stop, this._hint, this._compare, this._reset);
  }

  /** @param {string} name */
  _documentation(name) {
    const short = name.split(".")[1];
    return make("div", { class: "docs-function" },
      make("p", { class: "signature" }, make("code", {}, signature(this._stub, short))),
      layOut(docstring(this._stub, short)));
  }

  /** Show what depends on whether the functions pass. */
  showStatus() {
    this.host.dataset.status = this._page.status(this.current) ?? "unknown";
    this._compare.hidden = !this.passes;
  }

  // --- The text and the file

  /** @param {string} text */
  _type(text) {
    this._note.textContent = "";
    this.saved.type(text);
    if (!this._report.hidden || !this._passed.hidden) this.host.classList.add("outdated");
  }

  /**
   * @param {keyof typeof SAVE_WORDS} state
   * @param {string} message
   */
  _showSaveState(state, message) {
    this._saveState.textContent = SAVE_WORDS[state];
    this._saveState.dataset.state = state;
    this._problem.textContent = state === "failed" ? `not saved: ${message.replace(/^not saved: /, "")}` : "";
  }

  /** @param {string} text */
  _replaceText(text) {
    this.editor.replace(text);
    this._closeConflict();
    this._note.textContent = `${this._module}.py was changed outside of this page. Its new text is shown.`;
    if (!this._report.hidden || !this._passed.hidden) this.host.classList.add("outdated");
    this._lines = lineCount(text);
  }

  /** @param {number} line */
  _afterSave(line) {
    this.editor.setLine(line);
    const lines = lineCount(this.saved.saved);
    this._page.onGrown(this, lines - this._lines);
    this._lines = lines;
  }

  /** @param {string} draft */
  _restore(draft) {
    this.editor.replace(draft);
    if (this.saved.conflict) return;
    this._note.textContent = "What you had typed before was not saved yet. It is here again.";
    this.saved.save();
  }

  /**
   * Take note of the cell's text in the file. Returns false if it may be older than the latest save.
   * @param {FileCell} file
   * @param {boolean} isCertain
   */
  async fileChanged(file, isCertain) {
    if (!(await this.saved.fileChanged(file, isCertain))) return false;
    if (this.saved.digest === file.digest) {
      this.editor.setLine(file.line);
      this._lines = lineCount(file.text);
    }
    return true;
  }

  /** Say that the file has no such function any more. */
  fileLacksCell() {
    this._problem.textContent =
      `${this._module}.py has no function ${this.title} any more. Reset restores it; a backup is made first.`;
  }

  /** @param {import("./saved_text.js").Version} version */
  _showConflict(version) {
    this.editor.lock(true);
    const panel = conflictPanel({
      file: `${this._module}.py`,
      page: this.saved.text,
      saved: version.text,
      onChoice: async (choice) => {
        this._closeConflict();
        this.editor.focus();
        await this.saved.resolve(choice);
      },
    });
    this._below.replaceChildren(panel);
  }

  _closeConflict() {
    this._below.querySelector(".conflict")?.remove();
    this.editor.lock(false);
  }

  // --- Checks

  requestCheck() {
    return this._page.queue.request(this);
  }

  /** Say that another check comes first. */
  waits() {
    const running = this._page.queue.running;
    this._say(running === this ? "Checking. Your new text is checked next." : "Waiting for another check.");
  }

  /** Save and check. The queue calls this. */
  async check() {
    this._note.textContent = "";
    if (!(await this.saved.save())) {
      this._say(this.saved.conflict ?
        "Not checked. Choose first which text to keep." : "Not checked, because the text is not saved.");
      return;
    }
    this._begin();
    try {
      const checked = this.saved.text;
      let reply;
      for (const name of this.functions) {
        reply = await this._page.connection.request("check", { function: name });
        this._page.onProgress(reply);
        if (!reply.report.passed) break;
      }
      this._showReply(reply, checked);
    } catch (error) {
      this._showFailure(error);
    } finally {
      this._end();
    }
  }

  _begin() {
    this._isStopped = false;
    this.editor.unmark();
    this._say("Checking …");
    this._stop.hidden = false;
    this.host.classList.add("checking");
    this._clock.start();
  }

  _end() {
    this._clock.stop();
    const hadFocus = document.activeElement === this._stop;
    this._stop.hidden = true;
    if (hadFocus) this._check.focus();
    this.host.classList.remove("checking");
    this.showStatus();
  }

  /** A call of the running check is stopped unless it ends in time. @param {number | null} seconds */
  expect(seconds) {
    this._clock.expect(seconds);
  }

  async _stopCheck() {
    this._isStopped = true;
    this._say("Stopping …");
    try {
      await this._page.connection.request("cancel");
    } catch (error) {
      this._showFailure(error);
    }
  }

  /** @param {any} reply @param {string} checked the text that was checked */
  _showReply(reply, checked) {
    const { report, badges, next } = reply;
    this.host.classList.toggle("outdated", this.saved.text !== checked);
    this._report.replaceChildren(renderReport(report, { onLocation: this._page.onLocation }));
    this._report.hidden = false;
    this._docs.open = false;
    this._passed.hidden = !report.passed;
    if (report.passed) {
      this._hints.hide();
      this._hint.setAttribute("aria-expanded", "false");
      this._passed.replaceChildren(...this._celebration(report, badges, next));
      this._plots.drawFirst();
    }
    // The report says it, too: this is for screen readers.
    this._say(report.passed ? `${this.title} passes.` : report.headline);
    this._state.classList.add("visually-hidden");
  }

  /** @param {any} report @param {string[]} badges @param {any} next */
  *_celebration(report, badges, next) {
    yield make("p", { class: "passed-title" },
      make("span", { class: "tick", "aria-hidden": "true" }, "✓"), ` ${this.title} passes. `,
      make("span", { class: "earned" }, `${inPoints(report.points.earned)} points`));
    for (const badge of badges) yield make("p", { class: "badge" }, badge);
    if (!next) {
      yield make("p", {}, "Every function of the course passes.");
      return;
    }
    const [page, short] = next.function.split(".");
    const href = page === this._module ? `#${next.function}` : `${page}.html#${next.function}`;
    const place = page === this._module ? "" : ` in the assignment ${next.title}`;
    yield make("p", { class: "next" }, "Next: ", make("a", { href }, make("code", {}, short), place));
  }

  /** Say what the check does. @param {string} text */
  _say(text) {
    this._state.textContent = text;
    this._state.classList.remove("visually-hidden");
  }

  /** @param {unknown} error */
  _showFailure(error) {
    if (!(error instanceof BackendError)) throw error;
    this._say(this._isStopped ? "The check was stopped. Your code is saved." : error.message);
  }

  // --- Hints, solution, reset, plots

  async _toggleHints() {
    if (this._hints.isShown) this._hints.hide();
    else await this._hints.show(0);
    this._hint.setAttribute("aria-expanded", String(this._hints.isShown));
  }

  /** @param {number} more */
  _loadHints(more) {
    return this._try(() => this._page.connection.request("hint", { function: this.current, more }));
  }

  async _showSolution() {
    const name = this.current;
    const ask_ = (/** @type {boolean} */ give_up) =>
      this._page.connection.request("solution", { function: name, give_up });
    await this._try(async () => {
      if (!(await this.saved.save())) return;
      let reply;
      try {
        reply = await ask_(false);
      } catch (error) {
        if (!(error instanceof BackendError) || error.lost) throw error;
        if (!(await ask(error.message, { yes: "Show the solution", no: "Keep trying" }))) return;
        reply = await ask_(true);
      }
      this._openSolution(name, reply.text, null);
    });
  }

  async _compareWithSolution() {
    const name = this.functions[0];
    await this._try(async () => {
      const reply = await this._page.connection.request("solution", { function: name, give_up: false });
      this._openSolution(name, reply.text, this.editor.text);
    });
  }

  /** @param {string} name @param {string} solution @param {string | null} yours */
  _openSolution(name, solution, yours) {
    const before = document.activeElement;
    const panel = solutionPanel({
      name: name.split(".")[1],
      solution: solution.trimEnd(),
      yours,
      onClose: () => {
        panel.remove();
        if (before instanceof HTMLElement) before.focus();
      },
    });
    this._below.querySelector(".solution")?.remove();
    this._below.append(panel);
    panel.querySelector("h4")?.focus();
  }

  async _askToReset() {
    const name = this.current;
    const question = `Reset ${name.split(".")[1]} to its stub? A backup of ${this._module}.py is made first.`;
    if (!(await ask(question, { yes: "Reset it", no: "Keep my code" }))) return;
    await this._try(async () => {
      if (!(await this.saved.save())) return;
      const { text, digest, backup } = await this._page.connection.request("reset", { function: name });
      this.saved.replace({ text, digest });
      this._problem.textContent = "";
      this._note.textContent = backup ? `The stub is back. Your code is in ${backup}.` : "The stub is back.";
      this.editor.focus();
    });
  }

  /** Offer the plots that this cell's functions draw. @param {import("./plots.js").Plot[]} plots */
  offerPlots(plots) {
    this._plots.offer(plots);
  }

  /** Run an action; say in the cell what has gone wrong. @template T @param {() => Promise<T>} action */
  async _try(action) {
    this._problem.textContent = "";
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      this._problem.textContent = error.message;
      return null;
    }
  }
}

/** @param {string} text */
function lineCount(text) {
  return text.trim().split("\n").length;
}
