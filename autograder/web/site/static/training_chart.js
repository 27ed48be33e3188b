// The loss curve of a training run: an SVG that is drawn again whenever points arrive.

import { shape } from "./dom.js";

const MARGIN = { top: 12, right: 16, bottom: 44, left: 52 };
const SMALLEST_WIDTH = 260;

/**
 * @typedef {object} Point
 * @property {number} step
 * @property {number} loss mean training loss of the latest steps
 * @property {number | null} validation
 *
 * @typedef {object} Curve
 * @property {Point[]} points
 * @property {number} until the last step of the run
 * @property {{label: string, loss: number}[]} baselines
 */

export class LossChart {
  /** @param {HTMLElement} place */
  constructor(place) {
    this._place = place;
    /** @type {Curve | null} */
    this._curve = null;
    this._isWaiting = false;
    new ResizeObserver(() => this._drawSoon()).observe(place);
  }

  /** @param {Curve} curve */
  show(curve) {
    this._curve = curve;
    this._drawSoon();
  }

  _drawSoon() {
    if (this._isWaiting) return;
    this._isWaiting = true;
    requestAnimationFrame(() => {
      this._isWaiting = false;
      if (this._curve && this._place.clientWidth) this._place.replaceChildren(draw(this._curve, this._place.clientWidth));
    });
  }
}

/** Return the drawing of a curve. @param {Curve} curve @param {number} available the width in pixels */
export function draw({ points, until, baselines }, available) {
  const width = Math.max(SMALLEST_WIDTH, Math.round(available));
  const height = Math.round(Math.min(400, Math.max(240, width * 0.5)));
  const [lowest, highest] = range(points, baselines);
  const [right, bottom] = [width - MARGIN.right, height - MARGIN.bottom];
  const yTicks = ticks(lowest, highest, Math.floor(height / 55));
  const xTicks = ticks(0, until, Math.max(3, Math.floor(width / 70))).filter((tick) => Number.isInteger(tick));
  const x = (/** @type {number} */ step) => MARGIN.left + (step / Math.max(1, until)) * (right - MARGIN.left);
  const y = (/** @type {number} */ loss) =>
    MARGIN.top + ((highest - Math.min(loss, highest)) / (highest - lowest)) * (bottom - MARGIN.top);
  const validation = points.filter((point) => point.validation !== null);
  const digits = decimals(yTicks);

  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", class: "loss-chart",
    "aria-label": summary(points, until) });
  for (const tick of yTicks) {
    svg.append(shape("line", { x1: MARGIN.left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }),
      shape("text", { x: MARGIN.left - 8, y: y(tick) + 4, class: "tick loss" }, tick.toFixed(digits)));
  }
  for (const tick of xTicks) {
    svg.append(shape("text", { x: x(tick), y: bottom + 18, class: "tick step" }, tick.toLocaleString("en-US")));
  }
  svg.append(
    shape("line", { x1: MARGIN.left, x2: right, y1: bottom, y2: bottom, class: "axis" }),
    shape("text", { x: (MARGIN.left + right) / 2, y: height - 6, class: "title" }, "step"),
    shape("text", { x: 0, y: 0, class: "title", transform: `translate(13 ${bottom / 2}) rotate(-90)` },
      "loss (nats per character)"));
  baselines.forEach(({ loss }, number) => {
    if (loss > highest) return;
    svg.append(shape("line", { x1: MARGIN.left, x2: right, y1: y(loss), y2: y(loss), class: `baseline baseline-${number}` }));
  });
  svg.append(
    shape("path", { d: path(points.map((point) => [x(point.step), y(point.loss)])), class: "training" }),
    shape("path", { d: path(validation.map((point) => [x(point.step), y(point.validation ?? 0)])),
      class: "validation" }));
  for (const point of validation) {
    svg.append(shape("circle", { cx: x(point.step), cy: y(point.validation ?? 0), r: 3.5, class: "validation" }));
  }
  return svg;
}

/** Return a short piece of a line, for the legend. @param {string} line its classes */
export function drawKey(line) {
  const dots = line === "validation" ? [shape("circle", { cx: 16, cy: 4, r: 3.5, class: line })] : [];
  return shape("svg", { viewBox: "0 0 32 8", width: 32, height: 8, class: "loss-chart key", "aria-hidden": "true" },
    shape("path", { d: "M0 4L32 4", class: line }), ...dots);
}

/** Return the sentence that stands for the drawing. @param {Point[]} points @param {number} until */
function summary(points, until) {
  const last = points.at(-1);
  if (!last) return "Loss by step. There are no steps yet.";
  const measured = points.findLast((point) => point.validation !== null);
  const validation = measured ? ` and validation loss ${measured.validation?.toFixed(3)} at step ${measured.step}` : "";
  return `Loss by step: training loss ${last.loss.toFixed(3)} at step ${last.step} of ${until}${validation}.`;
}

/**
 * Return the smallest and the largest loss that are shown. What lies far above a uniform guess is cut off.
 * @param {Point[]} points
 * @param {{loss: number}[]} baselines
 */
function range(points, baselines) {
  const all = [...points.flatMap(({ loss, validation }) => (validation === null ? [loss] : [loss, validation])),
    ...baselines.map(({ loss }) => loss)];
  if (all.length === 0) return [0, 1];
  const uniform = baselines[0]?.loss ?? Infinity;
  const highest = Math.min(Math.max(...all), 1.5 * uniform);
  const lowest = Math.min(...all, highest);
  const space = 0.06 * (highest - lowest || 1);
  return [Math.max(0, lowest - space), highest + space];
}

/**
 * Return round numbers in a range, about `count` of them.
 * @param {number} from
 * @param {number} to
 * @param {number} count
 */
export function ticks(from, to, count) {
  const rough = (to - from) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Return how many decimals the ticks need. @param {number[]} values */
function decimals(values) {
  return Math.max(0, ...values.map((value) => String(value).split(".")[1]?.length ?? 0));
}

/** @param {number[][]} places */
function path(places) {
  return places.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
}
