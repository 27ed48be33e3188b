// Small plots that the student's own functions draw: offered when they pass.

import { button, make, reason } from "./dom.js";

/** @typedef {{name: string, title: string, functions: string[]}} Plot */

/** The plots below one cell. */
export class Plots {
  /** @param {(action: string, payload: object) => Promise<any>} request throws BackendError */
  constructor(request) {
    this._request = request;
    this._buttons = make("p", { class: "actions" });
    this._drawn = make("div", { class: "drawn", "aria-live": "polite" });
    this.element = make("section", { class: "plots", hidden: true, "aria-label": "Plots" }, this._buttons, this._drawn);
    /** @type {Plot[]} */
    this._plots = [];
  }

  /** Offer these plots; none hides the panel. @param {Plot[]} plots */
  offer(plots) {
    const isSame = names(plots) === names(this._plots);
    this.element.hidden = plots.length === 0;
    this._plots = plots;
    if (isSame) return;
    this._drawn.replaceChildren();
    this._buttons.replaceChildren("Plots that your code draws: ",
      ...plots.map((plot) => button(plot.title, () => this.draw(plot))));
  }

  /** Draw the first plot, unless one is shown. */
  async drawFirst() {
    if (this._plots.length && !this._drawn.childElementCount) await this.draw(this._plots[0]);
  }

  /** @param {Plot} plot */
  async draw(plot) {
    this._drawn.textContent = "Drawing …";
    try {
      const { renderFigure } = await import("./plot_figure.js");
      const reply = await this._request("draw", { name: plot.name });
      this._drawn.replaceChildren(renderFigure(reply.plot));
    } catch (error) {
      this._drawn.textContent = reason(error);
    }
  }
}

/** @param {Plot[]} plots */
function names(plots) {
  return plots.map((plot) => plot.name).join(" ");
}
