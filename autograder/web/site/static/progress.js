// Progress in the contents at the side: a mark for each function, the points, and a bar.

import { make, points as inPoints } from "./dom.js";
import { statusMark } from "./status_mark.js";

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
  try {
    const { version, work } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return version === VERSION && work ? work : null;
  } catch {
    return null; // The browser keeps nothing, or something else is there.
  }
}

/** Keep the work for the start page, which does not start Python. @param {Work} work */
function keepWork(work) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ version: VERSION, work }));
  } catch {
    // The start page stays as it is for newcomers.
  }
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
    for (const entry of this._contents?.querySelectorAll("[data-function]") ?? []) {
      this._mark(entry, this.statuses[/** @type {HTMLElement} */ (entry).dataset.function ?? ""] ?? null);
    }
    const here = Object.keys(this.statuses).filter((name) => name.startsWith(`${this._module}.`));
    const passed = here.filter((name) => this.statuses[name] === "passed").length;
    this._panel.hidden = false;
    this._bar.max = Math.max(1, here.length);
    this._bar.value = passed;
    this._text.textContent = `${passed} of ${here.length} functions pass`;
    this._points.textContent = `${ofAllPoints(this._earned)} in the whole course`;
  }

  /** @param {Element} entry @param {string | null} status null if the code was not checked since it was changed */
  _mark(entry, status) {
    const words = WORDS[status ?? ""] ?? "not checked since it was changed";
    entry.querySelector(".mark")?.remove();
    const mark = make("span", { class: `mark status-${status ?? "unknown"}`, title: words },
      status === null ? make("span", { "aria-hidden": "true" }, "?") : statusMark(status), make("span", { class: "visually-hidden" }, ` (${words})`));
    (entry.querySelector("a") ?? entry).append(mark);
  }
}
