// A plot with what to look for, and its numbers as tables for readers who do not see the picture.

import { make } from "./dom.js";
import { renderPlot } from "./plot.js";

const MOST_ROWS = 64; // Of longer series, the table has every second point, every third, …

/** @typedef {import("./plot.js").Panel} Panel */

/**
 * Return a figure: the picture, what to look for, and the numbers, folded.
 * @param {import("./plot.js").PlotData} data
 * @returns {HTMLElement}
 */
export function renderFigure(data) {
  const numbers = make("details", { class: "plot-numbers" }, make("summary", {}, "numbers"));
  numbers.addEventListener("toggle", () => {
    for (const panel of data.panels) {
      const table = panel.kind === "heatmap" ? matrixTable(panel) : seriesTable(panel);
      numbers.append(make("div", { class: "plot-scroll", tabIndex: 0 }, table));
    }
  }, { once: true });
  return make("figure", { class: "plot-figure" }, renderPlot(data), make("figcaption", {}, data.note), numbers);
}

/** @param {Panel} panel */
function matrixTable(panel) {
  const values = panel.values ?? [];
  const head = values[0].map((_, j) => make("th", { scope: "col" }, name(panel.x, j)));
  return make("table", {},
    make("caption", {}, `${panel.title} (rows: ${panel.y.label}, columns: ${panel.x.label})`),
    make("thead", {}, make("tr", {}, make("td"), ...head)),
    make("tbody", {}, ...values.map((row, i) => make("tr", {}, make("th", { scope: "row" }, name(panel.y, i)),
      ...row.map((value, j) => make("td", {}, panel.texts?.[i][j] ?? show(value)))))));
}

/** @param {Panel} panel */
function seriesTable(panel) {
  const series = panel.series ?? [];
  const step = Math.ceil(Math.max(...series.map(({ x }) => x.length)) / MOST_ROWS);
  const note = step > 1 ? `; every ${step} points one` : "";
  const title = [panel.title, `${panel.x.label} and ${panel.y.label}`].filter(Boolean).join(": ");
  const bodies = series.map((line) => make("tbody", {},
    line.label && make("tr", {}, make("th", { colSpan: 2, scope: "rowgroup" }, line.label)),
    ...line.x.flatMap((x, i) => (i % step ? [] : [make("tr", {},
      make("th", { scope: "row" }, panel.kind === "bars" ? name(panel.x, x) : show(x)),
      make("td", {}, panel.y.ticks.find(({ at }) => at === line.y[i])?.label ?? show(line.y[i])))]))));
  return make("table", {}, make("caption", {}, title + note),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, panel.x.label), make("th", { scope: "col" }, panel.y.label))),
    ...bodies);
}

/** @param {import("./plot.js").Axis} axis @param {number} at */
function name(axis, at) {
  return axis.ticks.find((tick) => tick.at === at)?.label ?? String(at);
}

/** @param {number | null} value */
function show(value) {
  return value === null ? "nan" : String(value).replace("-", "−");
}
