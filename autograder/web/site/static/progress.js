// Progress in the contents at the side: a mark for each function, the points, and a bar.

import { make, points as inPoints } from "./dom.js";
import { statusMark } from "./status_mark.js";

/** What a screen reader says of each status. @type {Record<string, string>} */
const WORDS = {
  passed: "passes",
  failed: "does not pass yet",
  error: "stopped by an error",
  timeout: "timed out",
  blocked: "blocked by another function",
  not_started: "not started",
};

/** @typedef {{earned: number, possible: number}} Points */

export class Progress {
  /** @param {string} module @param {Element | null} contents the contents at the side */
  constructor(module, contents) {
    this._module = module;
    this._contents = contents;
    /** @type {Record<string, string | null>} */
    this.statuses = {};
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
    for (const entry of this._contents?.querySelectorAll("[data-function]") ?? []) {
      this._mark(entry, this.statuses[/** @type {HTMLElement} */ (entry).dataset.function ?? ""] ?? null);
    }
    const here = Object.keys(this.statuses).filter((name) => name.startsWith(`${this._module}.`));
    const passed = here.filter((name) => this.statuses[name] === "passed").length;
    this._panel.hidden = false;
    this._bar.max = Math.max(1, here.length);
    this._bar.value = passed;
    this._text.textContent = `${passed} of ${here.length} functions pass`;
    if (points) this._points.textContent = `${inPoints(points.earned)} points in the whole course`;
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
