// The hints of a function, one step after the other, and then the offer to show the solution.

import { button, make, withCode } from "./dom.js";

const TITLES = ["A question", "The idea", "The shape of the line"]; // of the steps, in their order
const OFFERS = ["Show a question", "Show the idea", "Show the steps"];

/** The panel with the hints of one cell. */
export class Hints {
  /**
   * @param {object} options
   * @param {(more: number) => Promise<{steps: string[], total: number} | null>} options.load
   * @param {() => void} options.onSolution
   */
  constructor({ load, onSolution }) {
    this._load = load;
    this._steps = make("ol", { "aria-live": "polite" });
    this._more = button("", () => this.show(1), { class: "next-hint" });
    this._solution = button("Show the solution", onSolution, { class: "show-solution" });
    this.element = make("section", { class: "hints", hidden: true, "aria-label": "Hints" },
      make("h3", {}, "Hints"), this._steps, make("p", { class: "actions" }, this._more, this._solution));
  }

  get isShown() {
    return !this.element.hidden;
  }

  hide() {
    this.element.hidden = true;
  }

  /** Show the steps that were shown before, at least the first, and `more` further ones. @param {number} more */
  async show(more) {
    const reply = await this._load(more);
    if (!reply) return;
    const { steps, total } = reply;
    this.element.hidden = false;
    steps.slice(this._steps.childElementCount).forEach((text) => {
      const title = TITLES[this._steps.childElementCount];
      this._steps.append(make("li", {}, make("strong", {}, `${title}. `), ...withCode(text)));
    });
    this._more.hidden = steps.length >= total;
    this._more.textContent = `${OFFERS[steps.length]} (${steps.length + 1} of ${total})`;
    this._solution.hidden = steps.length < total;
    if (more && this._more.hidden) this._solution.focus();
    this.element.scrollIntoView({ block: "nearest" });
  }
}
