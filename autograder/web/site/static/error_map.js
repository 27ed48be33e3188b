// The map of wrong elements as a table: one cell for each element, or for a group of them. A cell says what it stands
// for when it is pointed at or has the focus; the arrow keys go from cell to cell.

import { make } from "./dom.js";

const FEW = 5; // With at most as many rows and columns, the numbers are shown in the cells.
const INSTRUCTION = "Point at a cell, or go through them with the arrow keys.";

/**
 * @typedef {{mark: string, glyph: string, word: string, text: string}} LegendEntry
 * @typedef {{
 *   rows: string[], axes: string[], at: string, row_labels: string[], column_labels: string[],
 *   yours: string[][] | null, expected: string[][] | null, yours_short: string[][] | null,
 *   expected_short: string[][] | null, legend: LegendEntry[], legend_note: string, description: string}} ErrorMap
 * @typedef {{table: HTMLTableElement, cells: HTMLTableCellElement[][]}} Grid
 */

/**
 * Return the map with its legend; of a small one also the numbers of both arrays.
 * @param {ErrorMap} map
 * @param {Record<string, string>} labels
 * @returns {HTMLElement}
 */
export function errorMap(map, labels) {
  const readout = make("p", { class: "map-readout", "aria-hidden": "true" }, INSTRUCTION);
  const { yours_short: yours, expected_short: expected } = map;
  const isSmall = yours && expected && map.rows.length <= FEW && map.rows[0].length <= FEW;
  const grids = isSmall
    ? [grid(map, labels, labels.yours, yours), grid(map, labels, labels.expected, expected)]
    : [grid(map, labels, labels.map, null)];
  for (const { cells } of grids) {
    listen(cells, (row, column) => {
      readout.textContent = cellText(map, labels, row, column);
      for (const other of grids) highlight(other.cells, row, column);
    });
  }
  return make("figure", { class: "map" },
    make("figcaption", {}, map.description),
    make("div", { class: "map-grids" }, ...grids.map(({ table }) => make("div", { class: "map-scroll" }, table))),
    readout,
    legend(map),
    !isSmall && yours && expected && numbers(map, labels, yours, expected));
}

/**
 * Return a table with a cell for each mark, and a number in each cell if there are values.
 * @param {ErrorMap} map
 * @param {Record<string, string>} labels
 * @param {string} name
 * @param {string[][] | null} values
 * @returns {Grid}
 */
function grid(map, labels, name, values) {
  const glyphs = Object.fromEntries(map.legend.map(({ mark, glyph }) => [mark, glyph]));
  const cells = map.rows.map((marks, row) => [...marks].map((mark, column) => make("td", {
    class: `map-cell map-${mark}`,
    role: "gridcell",
    tabIndex: row || column ? -1 : 0,
    "aria-label": (values ? `${values[row][column]}, ` : "") + cellText(map, labels, row, column),
  }, values ? values[row][column] : make("span", { class: "map-glyph" }, glyphs[mark]))));
  const [down, across] = map.axes;
  const heading = [values && name, down && map.rows.length > 1 && `${down} ↓`, across && `${across} →`].filter(Boolean).join(" · ");
  const rows = cells.map((row) => make("tr", { role: "row" }, ...row));
  const table = make("table", { class: values ? "map-numbers" : "map-marks", role: "grid", "aria-label": `${name}. ${map.description}` },
    heading && make("caption", { "aria-hidden": "true" }, heading), make("tbody", {}, ...rows));
  return { table, cells };
}

/**
 * Return what a cell stands for: its place, how wrong it is, and both values if they are known.
 * @param {ErrorMap} map
 * @param {Record<string, string>} labels
 * @param {number} row
 * @param {number} column
 */
function cellText(map, labels, row, column) {
  const place = [map.row_labels[row], map.column_labels[column]].filter(Boolean).join(", ");
  const word = map.legend.find(({ mark }) => mark === map.rows[row][column])?.word;
  if (!map.yours || !map.expected) return `${place}: ${word}`;
  const values = `${labels.yours} ${map.yours[row][column]}, ${labels.expected} ${map.expected[row][column]}`;
  return `${place}: ${values} (${word})`;
}

/**
 * Call `show` for the cell that is pointed at or has the focus; arrow keys, Home and End move the focus.
 * @param {HTMLTableCellElement[][]} cells
 * @param {(row: number, column: number) => void} show
 */
function listen(cells, show) {
  cells.forEach((row, i) => row.forEach((cell, j) => {
    cell.addEventListener("pointerenter", () => show(i, j));
    cell.addEventListener("focus", () => show(i, j));
    cell.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: [i - 1, j], ArrowDown: [i + 1, j], ArrowLeft: [i, j - 1], ArrowRight: [i, j + 1],
        Home: [i, 0], End: [i, row.length - 1] };
      const step = steps[/** @type {keyof typeof steps} */ (event.key)];
      const next = step && cells[step[0]]?.[step[1]];
      if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault(); // The page does not scroll, even at an edge.
      if (!next) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }));
}

/** @param {HTMLTableCellElement[][]} cells @param {number} row @param {number} column */
function highlight(cells, row, column) {
  cells.forEach((line, i) => line.forEach((cell, j) =>
    cell.classList.toggle("map-current", i === row && j === column)));
}

/** @param {ErrorMap} map */
function legend(map) {
  return make("div", { class: "map-legend" },
    make("ul", {}, ...map.legend.map(({ mark, glyph, text }) => make("li", {},
      make("span", { class: `map-cell map-${mark}`, "aria-hidden": "true" },
        make("span", { class: "map-glyph" }, glyph)), text))),
    map.legend_note && make("p", {}, map.legend_note));
}

/**
 * Return the numbers of both arrays, folded.
 * @param {ErrorMap} map
 * @param {Record<string, string>} labels
 * @param {string[][]} yours
 * @param {string[][]} expected
 */
function numbers(map, labels, yours, expected) {
  const table = (/** @type {string} */ name, /** @type {string[][]} */ values) => make("div", { class: "map-scroll" },
    make("table", { class: "map-numbers" }, make("caption", {}, name), make("tbody", {}, ...values.map((row, i) =>
      make("tr", {}, ...row.map((value, j) => make("td", { class: `map-cell map-${map.rows[i][j]}` }, value)))))));
  return make("details", { class: "report-folded" },
    make("summary", {}, labels.numbers),
    make("div", { class: "map-grids" }, table(labels.yours, yours), table(labels.expected, expected)));
}
