// Progress in the contents at the side: a mark for each function, the points, and a bar.

import { count, make, points as inPoints } from "./dom.js";
import { statusMark } from "./status_mark.js";
import { keep, kept } from "./storage.js";

const POSSIBLE = Number(document.body.dataset.possible); // points of the course; not a number if it does not say
const KEY = `headway progress ${new URL("../", import.meta.url).pathname}`; // in the browser's storage
const VERSION = document.querySelector('meta[name="generator"]')?.getAttribute("content");

/** What a screen reader says of each status. @type {Record<string, string>} */
const WORDS = {
  passed: "passes",
  failed: "does not pass yet",
  error: "stopped by an error",
  timeout: "timed out",
  blocked: "blocked by another function",
  not_started: "not started",
};

/**
 * @typedef {{earned: number, possible: number}} Points what is possible in the functions checked so far
 * @typedef {{statuses: Record<string, string | null>, earned: number}} Work
 */

/** Return points, and how many the course has, unless bonus points make them more. @param {number} earned */
export function ofAllPoints(earned) {
  return `${inPoints(earned)}${POSSIBLE >= earned ? ` of ${inPoints(POSSIBLE)}` : ""} points`;
}

/** Return what a lesson page of this site and this version has kept, or null. @returns {Work | null} */
export function keptWork() {
  const found = kept("localStorage", KEY);
  return found?.version === VERSION ? found.work ?? null : null;
}

/** Keep the work for the start page, which does not start Python. @param {Work} work */
function keepWork(work) {
  keep("localStorage", KEY, { version: VERSION, work });
}

/**
 * Return the state of an assignment: its functions that pass, whether they are all but bonus functions, and both in words.
 * @param {DOMStringMap} assignment with `module` and `bonus` @param {Work["statuses"]} statuses
 */
export function assignmentState({ module, bonus = "" }, statuses) {
  const names = Object.keys(statuses).filter((name) => name.startsWith(`${module}.`));
  const passed = names.filter((name) => statuses[name] === "passed");
  const unknown = names.filter((name) => statuses[name] === null).length;
  return {
    passed: passed.length,
    total: names.length,
    text: `${passed.length} of ${count(names.length, "function")} pass` + (unknown ? `, ${unknown} not checked since the last change` : ""),
    isComplete: names.every((name) => passed.includes(name) || bonus.split(" ").includes(name)),
  };
}

export class Progress {
  /** @param {string} module @param {Element | null} contents the contents at the side */
  constructor(module, contents) {
    this._module = module;
    this._contents = contents;
    /** @type {Record<string, string | null>} */
    this.statuses = {};
    this._earned = 0;
    this._text = make("p", { class: "progress-text" });
    this._bar = make("progress", { "aria-label": "Functions of this assignment that pass" });
    this._points = make("p", { class: "progress-points" });
    this._panel = make("div", { class: "progress", hidden: true }, this._text, this._bar, this._points);
    contents?.querySelector("ol, ul")?.before(this._panel);
  }

  /**
   * Show the statuses of the functions and the points.
   * @param {Record<string, string | null>} statuses
   * @param {Points} [points]
   */
  update(statuses, points) {
    this.statuses = { ...this.statuses, ...statuses };
    this._earned = points?.earned ?? this._earned;
    if (document.documentElement.dataset.backend === "browser") keepWork({ statuses: this.statuses, earned: this._earned });
    /** @type {Iterable<HTMLElement>} */
    const entries = this._contents?.querySelectorAll("li[data-function], li[data-module]") ?? [];
    for (const entry of entries) {
      const status = this.statuses[entry.dataset.function ?? ""] ?? null;
      const { passed, total, text, isComplete } = assignmentState(entry.dataset, this.statuses);
      if (!entry.dataset.module) mark(entry, status ?? "unknown", WORDS[status ?? ""] ?? "not checked since it was changed", status === null ? "?" : statusMark(status));
      else if (isComplete) mark(entry, "passed", text, statusMark("passed"));
      else mark(entry, "not_started", text, passed ? `${passed}/${total}` : "");
    }
    const { passed, total } = assignmentState({ module: this._module }, this.statuses);
    this._panel.hidden = false;
    this._bar.max = Math.max(1, total);
    this._bar.value = passed;
    this._text.textContent = `${passed} of ${total} functions pass`;
    this._points.textContent = `${ofAllPoints(this._earned)} in the whole course`;
  }
}

/** Mark an entry of the contents. @param {Element} entry @param {string} status @param {string} words @param {Node | string} sign */
function mark(entry, status, words, sign) {
  entry.querySelector(".mark")?.remove();
  (entry.querySelector("a") ?? entry).append(make("span", { class: `mark status-${status}`, title: words },
    make("span", { "aria-hidden": "true" }, sign), make("span", { class: "visually-hidden" }, ` (${words})`)));
}
