// The loss curve of a training run as a plot.

const TICKS = 6; // about
const BASELINES = /** @type {const} */ ([["dotted", 4], ["dashed", 4], ["dotted", 2]]);

/** @typedef {{step: number, loss: number}} Place */

/**
 * Return the curve, with the latest losses in the legend. What lies far above the first baseline, a uniform guess, is
 * cut off.
 * @param {(Place & {validation: number | null})[]} points at least one; `loss` is a mean of the latest steps
 * @param {number} until the last step of the run
 * @param {{label: string, loss: number}[]} baselines
 * @returns {import("./plot.js").PlotData}
 */
export function lossPlot(points, until, baselines) {
  const measured = points.flatMap(({ step, validation }) => (validation === null ? [] : [{ step, loss: validation }]));
  const losses = [...points, ...measured, ...baselines].map(({ loss }) => loss);
  const highest = Math.min(Math.max(...losses), 1.5 * (baselines[0]?.loss ?? Infinity));
  const lowest = Math.min(...losses, highest);
  const space = 0.06 * (highest - lowest || 1);
  /** @typedef {import("./plot.js").Series} Series */
  /** @type {(name: string, style: Series["style"], color: number, places: Place[]) => Series} */
  const line = (name, style, color, places) => ({
    label: `${name} (${places[places.length - 1].loss.toFixed(3)})`, style, color,
    x: places.map(({ step }) => step), y: places.map(({ loss }) => Math.min(loss, highest)),
  });
  const series = [line("training, mean of 100 steps", "line", 0, points)];
  if (measured.length) series.push(line("validation", "marked", 1, measured));
  baselines.forEach(({ label, loss }, number) => {
    const [style, color] = BASELINES[number % BASELINES.length];
    series.push(line(label, style, color, [{ step: 0, loss }, { step: until, loss }]));
  });
  const note = `At step ${points[points.length - 1].step} of ${until}: ${series.map(({ label }) => label).join(", ")}.`;
  const x = axis("step", 0, Math.max(1, until));
  x.ticks = x.ticks.filter(({ at }) => Number.isInteger(at));
  const y = axis("loss (nats per character)", Math.max(0, lowest - space), highest + space);
  return { title: "Loss by step", note, columns: 1, panels: [{ kind: "lines", title: "", isHigh: true, series, x, y }] };
}

/** Return an axis with ticks at round numbers. @param {string} label @param {number} low @param {number} high */
function axis(label, low, high) {
  const power = 10 ** Math.floor(Math.log10((high - low) / TICKS));
  const step = power * ([1, 2, 5].find((factor) => factor * power * TICKS >= high - low) ?? 10);
  const minimumFractionDigits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const ticks = [];
  for (let number = Math.ceil(low / step - 1e-9) || 0; number * step <= high + 1e-9 * step; number += 1) {
    ticks.push({ at: number * step, label: (number * step).toLocaleString("en-US", { minimumFractionDigits }) });
  }
  return { label, low, high, log: false, reversed: false, ticks };
}
