// What both back ends throw.

/** A request failed. The message is one line for the reader. */
export class BackendError extends Error {
  /**
   * @param {string} message
   * @param {{lost?: boolean}} [about] lost: nothing answers any more; connecting again may help
   */
  constructor(message, { lost = false } = {}) {
    super(message);
    this.name = "BackendError";
    this.lost = lost;
  }
}
