// Plots as SVG, from data that Python computes (autograder/models/plot_data.py): heat maps, lines, dots and bars.
//
// Colors and fonts are in plot.css, so that a plot follows the page from light to dark. A color never stands alone: lines
// differ in their dashes, too, and heat maps show amounts by how strong a color is. A plot is drawn again when the width
// that it has changes, so that its text keeps its size.

import { shape } from "./dom.js";
import { CHARACTER, LINE, fit, round, scaleOf, text, wrap } from "./plot_shapes.js";

const DEFAULT_WIDTH = 640;
const GAP = 18; // between panels
const LEVELS = 24; // strengths of a color in a heat map
const LONGEST_TICK = 110; // width of a label on the x axis; of a longer one only the beginning is shown

/**
 * @typedef {import("./plot_shapes.js").Axis} Axis
 * @typedef {{label: string, style: "line" | "marked" | "dashed" | "dotted" | "dots", color: number, x: number[],
 *   y: (number | null)[]}} Series
 * @typedef {{kind: "band" | "range", label: string, x: number[][], y: number[]}} Marks
 * @typedef {{kind: "heatmap" | "lines" | "bars", title: string, x: Axis, y: Axis, values?: (number | null)[][],
 *   texts?: string[][], scale?: Axis, signed?: boolean, series?: Series[], marks?: Marks[],
 *   isHigh?: boolean}} Panel
 * @typedef {{title: string, note: string, columns: number, panels: Panel[]}} PlotData
 * @typedef {{left: number, top: number, width: number, height: number}} Box
 *
 * Where a panel is drawn: its element, the room for its values, and the places of values in it.
 * @typedef {{group: SVGElement, inner: Box, toX: (value: number) => number, toY: (value: number) => number}} Frame
 */

/**
 * Return the picture of a plot. Its text alternative is its title and what to look for; `plot_figure.js` has the numbers.
 * @param {PlotData} data
 * @param {number} [available] the width that it will have
 * @returns {SVGSVGElement}
 */
export function renderPlot(data, available = DEFAULT_WIDTH) {
  const picture = shape("svg", { class: "plot", role: "img", "aria-label": `${data.title}. ${data.note}`, width: "100%" });
  let width = 0;
  const draw = (/** @type {number} */ wanted) => {
    if (!wanted || wanted === width) return;
    width = wanted;
    picture.replaceChildren();
    const height = drawPanels(picture, data, width);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    picture.setAttribute("height", String(height));
  };
  draw(available);
  new ResizeObserver(([entry]) => draw(Math.round(entry.contentRect.width))).observe(picture);
  return picture;
}

/**
 * Draw the title and all panels, and return the height that they need.
 * @param {SVGElement} picture
 * @param {PlotData} data
 * @param {number} width
 */
function drawPanels(picture, data, width) {
  let top = 0;
  for (const line of wrap(data.title, width / 1.15)) {
    top += LINE + 3;
    picture.append(text(line, 0, top - 5, "plot-title"));
  }
  const smallest = data.panels[0].kind === "bars" ? 105 : 270;
  const most = Math.max(1, Math.min(data.columns, data.panels.length, Math.floor((width + GAP) / (smallest + GAP))));
  const rows = Math.ceil(data.panels.length / most);
  const columns = Math.ceil(data.panels.length / rows); // so that the last row is not much shorter than the others
  const size = (width - GAP * (columns - 1)) / columns;
  for (let first = 0; first < data.panels.length; first += columns) {
    const row = data.panels.slice(first, first + columns);
    const heads = row.map((panel) => headLines(panel, size, size - leftMargin(panel, size)));
    const highest = Math.max(...heads.map((head) => head.lines));
    const bottoms = row.map((panel, column) => {
      const group = shape("g", { class: `plot-panel plot-${panel.kind}` });
      picture.append(group);
      const box = { left: column * (size + GAP), top: top + 6, width: size, height: 0 };
      return drawPanel(group, panel, heads[column], box, highest, rows, column === 0 || panel.kind !== "bars");
    });
    top = Math.max(...bottoms) + 6;
  }
  return Math.ceil(top);
}

/**
 * Return the title of a panel in lines, its legend in rows, and how many lines both need.
 * @param {Panel} panel
 * @param {number} size width of the panel
 * @param {number} width without the room for the y axis
 */
function headLines(panel, size, width) {
  const title = panel.title ? wrap(panel.title, size) : [];
  const named = (panel.series ?? []).filter(({ label }) => label);
  const ranges = (panel.marks ?? []).filter(({ kind }) => kind === "range");
  /** @type {{label: string, series: Series | null}[]} */
  const entries = [...named.map((series) => ({ label: fit(series.label, width - 44), series })),
    ...ranges.map(({ label }) => ({ label: fit(label, width - 44), series: null }))];
  /** @type {{label: string, series: Series | null}[][]} */
  const rows = [];
  let room = 0;
  for (const entry of entries) {
    const needed = Math.min(keyWidth(entry.label), width);
    if (needed > room) {
      rows.push([]);
      room = width;
    }
    rows[rows.length - 1].push(entry);
    room -= needed;
  }
  return { title, rows, lines: title.length + rows.length };
}

/**
 * Draw a panel and return where it ends.
 * @param {SVGElement} group
 * @param {Panel} panel
 * @param {ReturnType<typeof headLines>} head
 * @param {Box} outer its height is not known before
 * @param {number} headHeight lines for the titles and legends of all panels of the row
 * @param {number} rows of panels
 * @param {boolean} hasLabel whether the y axis has its label; of bars side by side only the first has
 */
function drawPanel(group, panel, head, outer, headHeight, rows, hasLabel) {
  let top = outer.top + (headHeight - head.lines) * LINE;
  const left = outer.left + leftMargin(panel, outer.width);
  const inner = { left, top: outer.top + headHeight * LINE + 6, width: outer.left + outer.width - left - 6, height: 0 };
  inner.height = panelHeight(panel, inner.width, rows);
  for (const line of head.title) {
    top += LINE;
    const start = outer.left + outer.width - line.length * CHARACTER; // A long title begins further left.
    group.append(text(line, Math.max(outer.left, Math.min(inner.left, start)), top - 4, "plot-panel-title"));
  }
  for (const row of head.rows) {
    top += LINE;
    drawLegend(group, row, inner.left, top - 4);
  }
  const toX = scaleOf(panel.x, inner.left, inner.left + inner.width);
  const toY = panel.y.reversed
    ? scaleOf(panel.y, inner.top, inner.top + inner.height)
    : scaleOf(panel.y, inner.top + inner.height, inner.top);
  const frame = { group, inner, toX, toY };
  const bottom = drawAxes(frame, panel, outer.left, hasLabel);
  for (const marks of panel.marks ?? []) if (marks.kind === "band") drawBand(frame, marks);
  if (panel.kind === "heatmap") drawHeatmap(frame, panel);
  else if (panel.kind === "bars") drawBars(frame, panel);
  else for (const series of panel.series ?? []) drawSeries(frame, series);
  for (const marks of panel.marks ?? []) if (marks.kind === "range") drawRanges(frame, marks);
  return panel.scale ? drawScale(frame, panel, panel.scale, bottom) : bottom;
}

/** @param {Panel} panel @param {number} width @param {number} rows of panels */
function panelHeight(panel, width, rows) {
  if (panel.kind === "bars") return 130;
  if (panel.kind === "heatmap") {
    return Math.max((panel.values?.length ?? 1) * (panel.texts ? 26 : 3), Math.min(width * 0.7, 260));
  }
  const named = panel.y.ticks.length > 7;
  if (named) return panel.y.ticks.length * LINE;
  return Math.max(rows > 2 ? 80 : 110, Math.min(width * (rows > 2 ? 0.15 : 0.45), panel.isHigh ? 360 : 210));
}

/**
 * Draw the ticks and labels of both axes, and return where the panel ends.
 * @param {Frame} frame
 * @param {Panel} panel
 * @param {number} edge left edge of the panel
 * @param {boolean} hasLabel
 */
function drawAxes({ group, inner, toX, toY }, panel, edge, hasLabel) {
  const bottom = inner.top + inner.height;
  const ruled = panel.kind !== "heatmap";
  for (const { at, label } of panel.y.ticks) {
    const y = round(toY(at));
    if (ruled) group.append(shape("line", { class: "plot-rule", x1: inner.left, x2: inner.left + inner.width, y1: y, y2: y }));
    group.append(text(fit(label, inner.left - edge - LINE - 8), inner.left - 6, y + 4, "plot-tick plot-end"));
  }
  if (ruled) {
    const zero = panel.kind === "bars" ? round(toY(0)) : bottom;
    group.append(shape("line", { class: "plot-axis", x1: inner.left, x2: inner.left + inner.width, y1: zero, y2: zero }));
  }
  const widest = Math.min(LONGEST_TICK, Math.max(...panel.x.ticks.map(({ label }) => label.length)) * CHARACTER);
  const slot = inner.width / Math.max(1, panel.x.ticks.length);
  const isNamed = panel.kind === "bars" || Boolean(panel.texts);
  const turned = isNamed && widest + 3 > slot;
  const every = isNamed ? 1 : Math.ceil((widest + 4) / slot);
  for (const { at, label } of panel.x.ticks.filter((_, number) => number % every === 0)) {
    const x = round(toX(at));
    /** @type {Record<string, string | number>} */
    const place = turned
      ? { class: "plot-tick plot-end", x: x + 4, y: bottom + 6, transform: `rotate(-90 ${x + 4} ${bottom + 6})` }
      : { class: "plot-tick plot-middle", x, y: bottom + LINE - 1 };
    group.append(shape("text", place, fit(label, LONGEST_TICK)));
  }
  let end = bottom + (turned ? widest + 8 : LINE + 2);
  for (const line of wrap(panel.x.label, inner.width + (inner.left - edge))) {
    end += LINE;
    const middle = inner.left + inner.width / 2;
    const half = (line.length * CHARACTER) / 2;
    group.append(text(line, round(Math.max(edge + half, middle)), end - 4, "plot-label plot-middle"));
  }
  if (hasLabel) {
    const x = edge + 11;
    const middle = inner.top + inner.height / 2;
    group.append(shape("text", { class: "plot-label plot-middle", x, y: middle, transform: `rotate(-90 ${x} ${round(middle)})` },
      panel.y.label));
  }
  return end + 4;
}

/** Draw a heat map: one path for all cells of the same strength of color. @param {Frame} frame @param {Panel} panel */
function drawHeatmap({ group, toX, toY }, panel) {
  /** @type {Map<string, string[]>} */
  const cells = new Map();
  /** @type {SVGElement[]} */
  const texts = [];
  (panel.values ?? []).forEach((row, i) => row.forEach((value, j) => {
    const [x, y, right, bottom] = [toX(j - 0.5), toY(i - 0.5), toX(j + 0.5), toY(i + 0.5)].map(round);
    const strength = value === null || !panel.scale ? 0 : strengthOf(value, panel.scale, Boolean(panel.signed));
    const kind = value === null ? "missing" : panel.signed && value < 0 ? "negative" : "positive";
    const key = `${kind} ${Math.round(strength * LEVELS)}`;
    if (!cells.has(key)) cells.set(key, []);
    cells.get(key)?.push(`M${x} ${y}H${right}V${bottom}H${x}Z`);
    if (panel.texts) {
      const contrast = strength > 0.85 ? "strong" : strength > 0.6 ? "middle" : "weak";
      texts.push(text(panel.texts[i][j], round((x + right) / 2), round((y + bottom) / 2 + 4),
        `plot-cell-text plot-middle plot-on-${kind}-${contrast}`));
    }
  }));
  for (const [key, paths] of cells) {
    const [kind, level] = key.split(" ");
    const opacity = kind === "missing" ? 1 : Number(level) / LEVELS;
    group.append(shape("path", { class: `plot-cell plot-${kind}`, "fill-opacity": opacity, d: paths.join("") }));
  }
  group.append(...texts);
}

/**
 * Return how strong the color of a value is, from 0 to 1.
 * @param {number} value
 * @param {Axis} scale
 * @param {boolean} signed
 */
function strengthOf(value, scale, signed) {
  if (signed) return Math.abs(value) / Math.max(Math.abs(scale.low), Math.abs(scale.high));
  return 0.04 + 0.96 * ((value - scale.low) / (scale.high - scale.low));
}

/**
 * Draw the color scale of a heat map, and return where it ends.
 * @param {Frame} frame
 * @param {Panel} panel
 * @param {Axis} scale
 * @param {number} top
 */
function drawScale({ group, inner }, panel, scale, top) {
  const signed = Boolean(panel.signed);
  const width = Math.min(inner.width, 180);
  const place = scaleOf(scale, inner.left, inner.left + width);
  for (let step = 0; step < LEVELS; step += 1) {
    const value = scale.low + ((step + 0.5) / LEVELS) * (scale.high - scale.low);
    const kind = signed && value < 0 ? "negative" : "positive";
    group.append(shape("rect", {
      class: `plot-scale plot-${kind}`, "fill-opacity": strengthOf(value, scale, signed).toFixed(3),
      x: round(inner.left + (step / LEVELS) * width), y: top + 4, width: round(width / LEVELS), height: 8,
    }));
  }
  const every = Math.ceil((scale.ticks.length * 5 * CHARACTER) / width);
  for (const { at, label } of scale.ticks.filter((_, number) => number % every === 0)) {
    group.append(text(label, round(place(at)), top + 12 + LINE - 2, "plot-tick plot-middle"));
  }
  group.append(text(scale.label, round(inner.left + width / 2), top + 12 + 2 * LINE - 2, "plot-label plot-middle"));
  return top + 12 + 2 * LINE + 6;
}

/** @param {Frame} frame @param {Panel} panel */
function drawBars({ group, toX, toY }, panel) {
  const [series] = panel.series ?? [];
  const half = ((toX(1) - toX(0)) / 2) * 0.76;
  series.x.forEach((x, i) => {
    const height = series.y[i];
    if (height === null) return;
    const [start, end] = [toY(Math.max(0, height)), toY(Math.min(0, height))];
    group.append(shape("rect", {
      class: `plot-bar plot-color-${series.color}`,
      x: round(toX(x) - half), y: round(start), width: round(2 * half), height: Math.max(0.5, round(end - start)),
    }, shape("title", {}, `${panel.x.ticks[i]?.label ?? x}: ${height}`)));
  });
}

/** @param {Frame} frame @param {Series} series */
function drawSeries({ group, toX, toY }, series) {
  const points = series.x.map((x, i) => ({ x, y: series.y[i] }));
  if (series.style === "dots" || series.style === "marked") {
    group.append(...points.flatMap(({ x, y }) => (y === null ? [] : [
      shape("circle", { class: `plot-dot plot-color-${series.color}`, cx: round(toX(x)), cy: round(toY(y)), r: 3.5 })])));
  }
  if (series.style === "dots") return;
  let path = "";
  let pen = "M"; // after a gap the line starts again
  for (const { x, y } of points) {
    if (y !== null) path += `${pen}${round(toX(x))} ${round(toY(y))}`;
    pen = y === null ? "M" : "L";
  }
  group.append(shape("path", { class: `plot-line plot-${series.style} plot-color-${series.color}`, fill: "none", d: path }));
}

/** Shade ranges of x, with the label in the middle. @param {Frame} frame @param {Marks} marks */
function drawBand({ group, inner, toX }, marks) {
  for (const [from, to] of marks.x) {
    const [left, right] = [toX(from), toX(to)];
    group.append(shape("rect", { class: "plot-band", x: round(left), y: inner.top, width: round(right - left), height: inner.height - 1 }));
    const lines = wrap(marks.label, right - left - 8);
    const first = inner.top + inner.height / 2 - ((lines.length - 1) * LINE) / 2 + 4;
    lines.forEach((line, number) => group.append(text(line, round((left + right) / 2), round(first + number * LINE), "plot-label plot-middle")));
  }
}

/** Draw horizontal ranges with a mark at each end and in the middle. @param {Frame} frame @param {Marks} marks */
function drawRanges({ group, toX, toY }, marks) {
  marks.x.forEach((places, number) => {
    const [from, to, middle] = places.map((place) => round(toX(place)));
    const y = round(toY(marks.y[number]));
    group.append(shape("path", { class: "plot-range", fill: "none", d: rangePath(from, to, middle, y) }));
  });
}

/** @type {(from: number, to: number, middle: number, y: number) => string} */
function rangePath(from, to, middle, y) {
  return `M${from} ${y - 3}v6M${to} ${y - 3}v6M${from} ${y}H${to}M${middle} ${y - 5}v10`;
}

/**
 * @param {SVGElement} group
 * @param {{label: string, series: Series | null}[]} entries
 * @param {number} left
 * @param {number} base
 */
function drawLegend(group, entries, left, base) {
  const y = base - 4;
  for (const { label, series } of entries) {
    group.append(series
      ? shape("path", { class: `plot-key plot-line plot-${series.style} plot-color-${series.color}`, fill: "none", d: `M${round(left)} ${y}h22` })
      : shape("path", { class: "plot-key plot-range", fill: "none", d: rangePath(round(left), round(left) + 22, round(left) + 11, y) }));
    group.append(text(label, round(left + 28), base, "plot-tick"));
    left += keyWidth(label);
  }
}

/** Return how wide an entry of the legend is. @param {string} label */
function keyWidth(label) {
  return 44 + label.length * CHARACTER;
}

/**
 * Return the room for the label and the ticks of the y axis.
 * @param {Panel} panel
 * @param {number} width of the panel
 */
function leftMargin(panel, width) {
  const widest = Math.max(...panel.y.ticks.map(({ label }) => label.length)) * CHARACTER;
  return LINE + Math.min(widest, width * 0.35) + 8;
}
