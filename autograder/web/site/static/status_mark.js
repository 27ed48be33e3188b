// The marks of the statuses as small pictures, so that no font can lack one. They mean what ✓ ✗ ! ∞ ◌ · mean in the
// terminal, and have the color of the text around them.

import { shape } from "./dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  passed: "M2.8 8.6 6.4 12.2 13.2 4",
  failed: "M3.6 3.6 12.4 12.4M12.4 3.6 3.6 12.4",
  error: "M8 2.4V9.4M8 12.6V13.4",
  timeout: "M14.2 8A6.2 6.2 0 1 1 1.8 8A6.2 6.2 0 1 1 14.2 8M8 4.4V8L10.4 9.8",
  blocked: "M13.8 8A5.8 5.8 0 1 1 2.2 8A5.8 5.8 0 1 1 13.8 8",
  not_started: "M7.5 8H8.5",
};

/** Return the mark of a status, without text: what stands beside it must say the same. @param {string} status */
export function statusMark(status) {
  return shape("svg", {
    class: `status-mark status-mark-${status}`, viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true",
  }, shape("path", {
    d: PATHS[status] ?? PATHS.not_started, fill: "none", stroke: "currentColor", "stroke-linecap": "round",
    "stroke-linejoin": "round", "stroke-width": status === "not_started" ? 3 : 2,
    ...(status === "blocked" && { "stroke-dasharray": "1.6 4.5" }),
  }));
}
