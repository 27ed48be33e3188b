// One check at a time. A check that is asked for meanwhile waits; asking twice makes no second one.

/**
 * @typedef {object} Checkable
 * @property {() => Promise<void>} check
 * @property {() => void} waits
 * @property {(text: string) => void} say what the check is doing
 * @property {(seconds: number | null) => void} expect the check ends in time, or is stopped
 */

export class CheckQueue {
  constructor() {
    /** @type {Checkable | null} */
    this.running = null;
    /** @type {Checkable[]} */
    this._waiting = [];
  }

  /** Check a cell as soon as nothing else is checked. @param {Checkable} cell */
  async request(cell) {
    if (this.running) {
      if (!this.isWaiting(cell)) this._waiting.push(cell);
      cell.waits();
      return;
    }
    /** @type {Checkable | undefined} */
    let next = cell;
    while (next) {
      this.running = next;
      try {
        await next.check();
      } finally {
        this.running = null;
      }
      next = this._waiting.shift();
    }
  }

  /** Whether a cell will be checked later. @param {Checkable} cell */
  isWaiting(cell) {
    return this._waiting.includes(cell);
  }
}
