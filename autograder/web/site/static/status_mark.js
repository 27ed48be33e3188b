// The marks of the statuses as small pictures, so that no font can lack one. They mean what ✓ ✗ ! ∞ ◌ · mean in the
// terminal, and have the color of the text around them.

const SVG = "http://www.w3.org/2000/svg";
/** @type {Record<string, string>} */
const PATHS = {
  passed: "M2.8 8.6 6.4 12.2 13.2 4",
  failed: "M3.6 3.6 12.4 12.4M12.4 3.6 3.6 12.4",
  error: "M8 2.4V9.4M8 12.6V13.4",
  timeout: "M14.2 8A6.2 6.2 0 1 1 1.8 8A6.2 6.2 0 1 1 14.2 8M8 4.4V8L10.4 9.8",
  blocked: "M13.8 8A5.8 5.8 0 1 1 2.2 8A5.8 5.8 0 1 1 13.8 8",
  not_started: "M7.5 8H8.5",
};

/**
 * Return the mark of a status, without text: what stands beside it must say the same.
 * @param {string} status
 * @returns {SVGSVGElement}
 */
export function statusMark(status) {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", `status-mark status-mark-${status}`);
  picture.setAttribute("viewBox", "0 0 16 16");
  picture.setAttribute("width", "16");
  picture.setAttribute("height", "16");
  picture.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[status] ?? PATHS.not_started);
  path.setAttribute("fill", "none");
  path.setAttribute("stroke", "currentColor");
  path.setAttribute("stroke-width", status === "not_started" ? "3" : "2");
  path.setAttribute("stroke-linecap", "round");
  path.setAttribute("stroke-linejoin", "round");
  if (status === "blocked") path.setAttribute("stroke-dasharray", "1.6 4.5");
  picture.append(path);
  return picture;
}
