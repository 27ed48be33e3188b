// The elements of one cell: the column with the code and its buttons, the column with what is said about it.

import { docstring, layOut, signature } from "./documentation.js";
import { button, make, points as inPoints } from "./dom.js";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const SAVE_WORDS = { saved: "saved", typed: "not saved yet", saving: "saving …", failed: "not saved", conflict: "not saved" };

/** @typedef {"check" | "stop" | "debug" | "hint" | "compare" | "reset"} ButtonName */

export class CellView {
  /**
   * @param {object} options
   * @param {string[]} options.functions qualified names
   * @param {string} options.title their names for readers
   * @param {string} options.stub the source with the docstrings
   * @param {Record<ButtonName, () => void>} options.actions what the buttons do
   */
  constructor({ functions, title, stub, actions }) {
    this._passes = `${title} ${functions.length === 1 ? "passes" : "pass"}.`;
    this._file = `${functions[0].split(".")[0]}.py`;
    this._saveState = make("span", { class: "save-state" }, SAVE_WORDS.saved);
    this.problem = make("p", { class: "problem", role: "alert" });
    this.note = make("p", { class: "note", role: "status" });
    this.buttons = makeButtons(actions);
    this.leaveId = `leave-${functions[0]}`;
    const head = make("p", { class: "cell-head" }, make("span", { class: "file" }, this._file), this._saveState);
    this.code = make("div", { class: "code" });
    this._state = make("span", { class: "check-state", role: "status" });
    this.clock = make("span", { class: "check-clock", role: "timer" });
    this.task = make("p", { class: "leave" }, "Write your code in place of the line ",
      make("code", {}, "raise NotImplementedError(…)"), ". Then press Check.");
    const foot = make("div", { class: "cell-foot" },
      make("div", { class: "buttons", role: "group", "aria-label": `What to do with ${title}` },
        ...Object.values(this.buttons)),
      make("p", { class: "check-line" }, this._state, " ", this.clock), this.problem, this.note, this.task,
      make("p", { class: "leave", id: this.leaveId }, "Tab indents. Escape, then Tab, leaves the editor."));
    const codeColumn = make("div", { class: "code-column" }, head, this.code, foot);
    this._passed = make("div", { class: "passed", hidden: true });
    this.hints = make("div");
    this._report = make("section", { class: "cell-report", "aria-label": `Report of ${title}`, hidden: true });
    this.plots = make("div");
    this._docs = make("details", { class: "docs", open: true }, make("summary", {}, "Documentation"),
      ...functions.map((name) => documentation(stub, name.split(".")[1])));
    const sideColumn = make("div", { class: "side-column" },
      this._passed, this.hints, this._report, this.plots, this._docs);
    this.below = make("div", { class: "cell-below" });
    this.elements = [make("div", { class: "columns" }, codeColumn, sideColumn), this.below];
  }

  /** Whether a report is shown. */
  get hasReport() {
    return !this._report.hidden;
  }

  /** Say in words whether the text is saved. @param {keyof typeof SAVE_WORDS} state @param {string} message */
  showSaveState(state, message) {
    this._saveState.textContent = SAVE_WORDS[state];
    this._saveState.dataset.state = state;
    this.problem.textContent = message && `not saved: ${message.replace(/^not saved: /, "")}`;
  }

  /** Say what the check does, or only to screen readers what the report shows. @param {string} text */
  say(text, isHidden = false) {
    this._state.textContent = text;
    this._state.classList.toggle("visually-hidden", isHidden);
  }

  /** @param {boolean} isRunning */
  showRunning(isRunning) {
    const { check, stop } = this.buttons;
    if (!isRunning && document.activeElement === stop) check.focus();
    stop.hidden = !isRunning;
  }

  /**
   * Show the report of a check; a pass is celebrated.
   * @param {any} reply
   * @param {HTMLElement} report
   * @param {boolean} canTrain whether the site has a page for training
   */
  showReport({ report: { passed, headline, points }, badges, next }, report, canTrain) {
    this._report.replaceChildren(report);
    this._report.hidden = false;
    this._docs.open = false;
    this._passed.hidden = !passed;
    if (passed) this._passed.replaceChildren(...this._celebration(points.earned, badges, next, canTrain));
    this.say(passed ? this._passes : headline, true);
    this.scrollToResult();
  }

  /**
   * Show the report again, now with the mistake, unless nothing new was found.
   * @param {any} reply
   * @param {HTMLElement | null} report
   */
  completeReport({ report: { headline, cards } }, report) {
    if (report) this._report.replaceChildren(report);
    const titles = cards.map((/** @type {any} */ card) => card.mistake?.title).filter(Boolean);
    this.say([headline, ...titles].join(". "), true);
  }

  /** Scroll as little as needed to show the outcome of the check. */
  scrollToResult() {
    const header = this._report.querySelector(".report-header") ?? this._report;
    (this._passed.hidden ? header : this._passed).scrollIntoView({ block: "nearest" });
  }

  /**
   * @param {number} earned
   * @param {string[]} badges
   * @param {{function: string, title: string} | null} next
   * @param {boolean} canTrain
   */
  *_celebration(earned, badges, next, canTrain) {
    yield make("p", { class: "passed-title" },
      make("span", { class: "tick", "aria-hidden": "true" }, "✓"), ` ${this._passes} `,
      make("span", { class: "earned" }, `${inPoints(earned)} points`));
    for (const badge of badges) yield make("p", { class: "badge" }, badge);
    if (!next) {
      yield make("p", {}, "Every function of the course passes. ",
        canTrain && make("a", { href: "train.html" }, "Train your model"));
      return;
    }
    const [module, name] = next.function.split(".");
    const isHere = this._file === `${module}.py`;
    const href = isHere ? `#${next.function}` : `${module}.html#${next.function}`;
    yield make("p", { class: "next" }, "Next: ",
      make("a", { href }, make("code", {}, name)), isHere ? "" : ` in the assignment “${next.title}”`);
  }
}

/** @param {Record<ButtonName, () => void>} actions */
function makeButtons(actions) {
  const check = button("Check ", actions.check, { class: "check", "aria-keyshortcuts": "Control+Enter" });
  check.append(make("kbd", { "aria-hidden": "true" }, IS_MAC ? "⌘ Enter" : "Ctrl Enter"));
  return {
    check,
    stop: button("Stop", actions.stop, { class: "stop", hidden: true }),
    debug: button("Show the failed call", actions.debug, { class: "debug", hidden: true }),
    hint: button("Hint", actions.hint, { class: "hint", "aria-expanded": "false" }),
    compare: button("Compare with the solution", actions.compare, { class: "compare", hidden: true }),
    reset: button("Reset", actions.reset, { class: "reset" }),
  };
}

/** @param {string} stub @param {string} name */
function documentation(stub, name) {
  return make("div", { class: "docs-function" },
    make("p", { class: "signature" }, make("code", {}, signature(stub, name))), layOut(docstring(stub, name)));
}
