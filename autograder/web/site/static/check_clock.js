// The clock beside a running check: how long it has taken, and when a call that does not end will be stopped.

const PATIENCE_SECONDS = 1; // a check that is done sooner needs no clock

export class CheckClock {
  /**
   * @param {HTMLElement} element where the time is shown
   * @param {(seconds: number) => string} warning what is said about the rest of the time
   */
  constructor(element, warning = warnOfLoop) {
    this._element = element;
    this._warning = warning;
    this._timer = 0;
    this._begin = 0;
    /** @type {number | null} */
    this._deadline = null;
  }

  start() {
    this._begin = performance.now();
    this._deadline = null;
    this._timer = setInterval(() => this._show(), 250);
    this._show();
  }

  /** A call has begun that is stopped unless it ends in time. @param {number | null} seconds */
  expect(seconds) {
    this._deadline = seconds === null ? null : performance.now() + seconds * 1000;
    if (this._timer) this._show();
  }

  stop() {
    clearInterval(this._timer);
    this._timer = 0;
    this._element.textContent = "";
  }

  _show() {
    const now = performance.now();
    const seconds = Math.floor((now - this._begin) / 1000);
    if (seconds < PATIENCE_SECONDS) return;
    const rest = Math.max(0, Math.ceil(((this._deadline ?? now) - now) / 1000));
    const left = this._deadline === null ? "" : this._warning(rest);
    this._element.textContent = `It has run for ${seconds} s.${left}`;
  }
}

/** @param {number} seconds */
function warnOfLoop(seconds) {
  return ` A call of your code has not returned: it will be stopped in ${seconds} s. Is there an endless loop?`;
}
