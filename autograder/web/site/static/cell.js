// One cell of a lesson: the editor of a function with its buttons, report, hints and documentation.

import { BackendError } from "./backend_error.js";
import { CellView } from "./cell_view.js";
import { CheckClock } from "./check_clock.js";
import { ask } from "./dom.js";
import { Editor } from "./editor.js";
import { Hints } from "./hints.js";
import { Plots } from "./plots.js";
import { renderReport } from "./report.js";
import { SavedText } from "./saved_text.js";
import { codePanel, conflictPanel } from "./versions.js";

/**
 * @typedef {{text: string, digest: string, line: number, shared_with: string[]}} FileCell
 *
 * What a cell needs of its page.
 * @typedef {object} CellPage
 * @property {import("./connection.js").Connection} connection
 * @property {import("./saved_text.js").Drafts} drafts
 * @property {import("./check_queue.js").CheckQueue} queue
 * @property {boolean} canTrain whether the site has a page for training
 * @property {(name: string) => string | null} status the status of a function
 * @property {() => string} waitsFor what the back end is doing before it can check, or ""
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
    this._file = `${functions[0].split(".")[0]}.py`;
    this._isStopped = false;
    this._isDiagnosing = false;
    /** @type {Promise<void> | null} */
    this._interruption = null; // of the search for a mistake
    this._lines = lineCount(file.text);
    this.saved = new SavedText(functions[0], file, page.connection, page.drafts, {
      onState: (state, message) => this._view.showSaveState(state, message),
      onConflict: (version) => this._showConflict(version),
      onReplace: (text) => this._replaceText(text),
      onSaved: (reply) => this._afterSave(reply),
    });
    this._view = new CellView({
      functions,
      title: this.title,
      stub: host.querySelector(".stub")?.textContent ?? file.text,
      actions: {
        check: () => this.requestCheck(),
        stop: () => this._stopCheck(),
        debug: () => this._showFailedCall(),
        hint: () => this._toggleHints(),
        compare: () => this._compareWithSolution(),
        reset: () => this._askToReset(),
      },
    });
    this.editor = new Editor({
      parent: this._view.code,
      text: file.text,
      line: file.line,
      label: `Code of ${this.title}`,
      describedBy: this._view.leaveId,
      onEdit: (text) => this._type(text),
      onCheck: () => this.requestCheck(),
    });
    this._clock = new CheckClock(this._view.clock);
    this._hints = new Hints({
      load: (more) => this._try(() => page.connection.request("hint", { function: this.current, more })),
      onSolution: () => this._showSolution(),
    });
    this.plots = new Plots((action, payload) => page.connection.request(action, payload));
    this._view.hints.replaceWith(this._hints.element);
    this._view.plots.replaceWith(this.plots.element);
    host.replaceChildren(...this._view.elements);
    host.classList.add("ready");
    this.showStatus();
    this._restoreDraft();
  }

  /** The names of the functions without their module: "pack and unpack". */
  get title() {
    return this.functions.map((name) => name.split(".")[1]).join(" and ");
  }

  /** The function that the buttons are about: the first one that does not pass. */
  get current() {
    return this.functions.find((name) => this._page.status(name) !== "passed") ?? this.functions[0];
  }

  /** Show what depends on whether the functions pass. */
  showStatus() {
    const passes = this._page.status(this.current) === "passed";
    this.host.dataset.status = this._page.status(this.current) ?? "unknown";
    this._view.buttons.compare.hidden = !passes;
    this._view.buttons.hint.hidden = passes;
    this._view.buttons.debug.hidden = passes || !this._view.hasReport;
    this._view.task.hidden = this._page.status(this.current) !== "not_started";
  }

  // --- The text and the file

  /** @param {string} text */
  _type(text) {
    this._view.note.textContent = "";
    if (this._page.queue.running !== this) this._view.say(""); // It was about the text before.
    this.saved.type(text);
    this._outdateReport();
    this._interruptDiagnosis();
  }

  /** Mark the report as being about an earlier text. */
  _outdateReport() {
    if (this._view.hasReport) this.host.classList.add("outdated");
  }

  /** @param {string} text */
  _replaceText(text) {
    this.editor.replace(text);
    this._closeConflict();
    this._view.note.textContent = `${this._file} was changed outside of this page. Its new text is shown.`;
    this._outdateReport();
    this._lines = lineCount(text);
  }

  /** @param {any} reply of the back end to the save */
  _afterSave(reply) {
    this.editor.setLine(reply.line);
    this._page.onProgress(reply);
    const lines = lineCount(this.saved.saved);
    this._page.onGrown(this, lines - this._lines);
    this._lines = lines;
  }

  _restoreDraft() {
    const draft = this.saved.restore();
    if (draft === null) return;
    this.editor.replace(draft);
    if (this.saved.conflict) return;
    this._view.note.textContent = "What you had typed before was not saved yet. It is here again.";
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

  /** Say that the text is not in the file any more; the page says why if there is no file. @param {boolean} hasFile */
  fileLacksCell(hasFile) {
    this.saved.lose();
    this._view.problem.textContent = hasFile ? `${this._file} has no function ${this.title} any more. Reset restores it; a backup is made first.` : "";
  }

  /** @param {import("./saved_text.js").Version} version */
  _showConflict(version) {
    this.editor.lock(true);
    const panel = conflictPanel({
      file: this._file,
      page: this.saved.text,
      saved: version.text,
      onChoice: async (choice) => {
        this._closeConflict();
        this.editor.focus();
        await this.saved.resolve(choice);
      },
    });
    this._view.below.replaceChildren(panel);
    panel.scrollIntoView({ block: "nearest" });
  }

  _closeConflict() {
    this._view.below.querySelector(".conflict")?.remove();
    this.editor.lock(false);
  }

  // --- Checks

  requestCheck() {
    return this._page.queue.request(this);
  }

  /** Say that another check comes first. The queue calls this. */
  waits() {
    const isSame = this._page.queue.running === this;
    this._view.say(isSame ? "Checking. Your new text is checked next." : "Waiting for another check.");
    if (isSame) this._interruptDiagnosis();
  }

  /** Look no longer for the mistake of a text that is changed or checked again. */
  _interruptDiagnosis() {
    if (!this._isDiagnosing || !this._page.connection.canInterrupt) return;
    this._interruption ??= this._page.connection.request("cancel", { only: "check" }).catch(() => {});
  }

  /** Save and check. The queue calls this. */
  async check() {
    this._view.note.textContent = "";
    this._isStopped = false;
    this.editor.unmark();
    this.say(this._page.waitsFor() || "Checking");
    this.host.classList.add("checking");
    this._clock.start();
    try {
      if (await this.saved.save()) {
        this._view.showRunning(true);
        await this._checkFunctions();
      } else {
        const reason = this.saved.conflict ? "Choose first which text to keep." : "The text is not saved.";
        this._view.say(`Not checked. ${reason}`);
      }
    } catch (error) {
      this._showFailure(error);
    } finally {
      this._clock.stop();
      this._view.showRunning(false);
      this.host.classList.remove("checking");
      this.showStatus();
    }
  }

  /** Check the functions of the cell, up to the first one that does not pass, and show the last report. */
  async _checkFunctions() {
    const checked = this.saved.text;
    let reply, name;
    for (name of this.functions) {
      reply = await this._page.connection.request("check", { function: name, diagnose: false });
      this._page.onProgress(reply);
      if (!reply.report.passed) break;
    }
    this.host.classList.toggle("outdated", this.saved.text !== checked);
    this.host.classList.remove("checking");
    this._view.showReport(reply, this._render(reply.report), this._page.canTrain);
    if (reply.report.passed) {
      this._closeHints();
      this.plots.drawFirst().then(() => this._view.scrollToResult()); // A longer column moves what is beside it.
    } else if (reply.undiagnosed && this.saved.text === checked && !this._page.queue.isWaiting(this)) {
      this.showStatus();
      await this._diagnose(name ?? "", reply.report);
    }
  }

  /**
   * Look for the mistake, which may take longer than the check, and show what was found.
   * @param {string} name of the function
   * @param {import("./report.js").Report} shown
   */
  async _diagnose(name, shown) {
    this.say(`${shown.headline}. Looking for the mistake`);
    this._isDiagnosing = true;
    try {
      const reply = await this._page.connection.request("check", { function: name });
      this._page.onProgress(reply);
      const isNew = JSON.stringify(reply.report.cards) !== JSON.stringify(shown.cards);
      this._view.completeReport(reply, isNew ? this._render(reply.report) : null);
    } catch (error) {
      if (!this._interruption) throw error;
      this._view.say("");
    } finally {
      await this._interruption;
      this._interruption = null;
      this._isDiagnosing = false;
    }
  }

  /** @param {import("./report.js").Report} report */
  _render(report) {
    return renderReport(report, { onLocation: this._page.onLocation });
  }

  /** Say what the running check is doing. @param {string} text */
  say(text) {
    this._view.say(`${text} …`);
  }

  /** A call of the running check is stopped unless it ends in time. @param {number | null} seconds */
  expect(seconds) {
    this._clock.expect(seconds);
  }

  async _stopCheck() {
    this._isStopped = true;
    this._view.say("Stopping …");
    try {
      await this._page.connection.request("cancel", { only: "check" });
    } catch (error) {
      this._showFailure(error);
    }
  }

  /** @param {unknown} error */
  _showFailure(error) {
    if (!(error instanceof BackendError)) throw error;
    this._view.say(this._isStopped ? "The check was stopped. Your code is saved." : error.message);
  }

  // --- Hints, solution, reset, plots

  async _toggleHints() {
    if (this._hints.isShown) {
      this._closeHints();
    } else {
      await this._hints.show(0);
      this._view.buttons.hint.setAttribute("aria-expanded", String(this._hints.isShown));
    }
  }

  _closeHints() {
    this._hints.hide();
    this._view.buttons.hint.setAttribute("aria-expanded", "false");
  }

  /** Show the solution; a question comes first, unless the function passes or the solution was shown before. */
  async _showSolution() {
    const name = this.current;
    const request = (/** @type {boolean} */ give_up) =>
      this._page.connection.request("solution", { function: name, give_up });
    await this._try(async () => {
      if (!(await this.saved.save())) return;
      let reply = await request(false);
      if (reply.question) {
        if (!(await ask(reply.question, { yes: "Show the solution", no: "Keep trying" }))) return;
        reply = await request(true);
      }
      this._openPanel(`Solution of ${name.split(".")[1]}`, reply.text, null);
    });
  }

  /** Show the program that repeats the failed call. */
  async _showFailedCall() {
    const name = this.current;
    const reply = await this._try(() => this._page.connection.request("debug", { function: name }));
    if (reply) this._openPanel(`The failed call of ${name.split(".")[1]}`, reply.text, null);
  }

  async _compareWithSolution() {
    const name = this.functions[0];
    await this._try(async () => {
      const reply = await this._page.connection.request("solution", { function: name, give_up: false });
      if (reply.text) this._openPanel(`Your ${name.split(".")[1]} and the solution`, reply.text, this.editor.text);
      else this._view.note.textContent = "Check your latest code first. The solution is shown when it passes.";
    });
  }

  /** @param {string} title @param {string} text @param {string | null} yours with which a solution is compared */
  _openPanel(title, text, yours) {
    const before = document.activeElement;
    const panel = codePanel({
      title,
      text: text.trimEnd(),
      yours,
      onClose: () => {
        panel.remove();
        if (before instanceof HTMLElement) before.focus();
      },
    });
    this._view.below.querySelector(".solution")?.remove();
    this._view.below.append(panel);
    panel.querySelector("h3")?.focus();
  }

  async _askToReset() {
    const name = this.current;
    const question = `Reset ${name.split(".")[1]} to its stub? A backup of ${this._file} is made first.`;
    if (!(await ask(question, { yes: "Reset it", no: "Keep my code" }))) return;
    await this._try(async () => {
      if (!(await this.saved.save())) return;
      const { text, digest, backup } = await this._page.connection.request("reset", { function: name });
      this.saved.replace({ text, digest });
      const copy = backup ? ` A copy is in ${backup}.` : "";
      this._view.note.textContent = `The stub is back. Undo (Ctrl-Z) brings back your code.${copy}`;
      this.editor.focus();
    });
  }

  /** Run an action; say in the cell what has gone wrong. @template T @param {() => Promise<T>} action */
  async _try(action) {
    this._view.problem.textContent = "";
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof BackendError)) throw error;
      this._view.problem.textContent = error.message;
      return null;
    }
  }
}

/** @param {string} text */
function lineCount(text) {
  return text.trim().split("\n").length;
}
