// What a browser must be able to do to run Python: old ones, and pages without https, get one clear line.
import { BackendError } from "./backend_error.js";

const TOO_OLD =
  "This browser is too old to run Python. Read on here, and check with a current Firefox, Chrome, Edge or Safari.";

/** Return what this browser lacks for Python, in one line; empty if nothing. */
export function missingFeature() {
  if (typeof WebAssembly !== "object" || typeof Worker !== "function") return TOO_OLD;
  if (!globalThis.crypto?.subtle) {
    return "This page must be opened with https (or from this computer): else it cannot verify what it downloads.";
  }
  return "";
}

/**
 * Start a worker whose program is a module; throw BackendError if this browser knows only old ones.
 * @param {URL} url
 */
export function startModuleWorker(url) {
  let isKnown = false;
  const options = {
    get type() {
      isKnown = true;
      return /** @type {const} */ ("module");
    },
  };
  const worker = new Worker(url, options);
  if (!isKnown) {
    worker.terminate();
    throw new BackendError(TOO_OLD);
  }
  return worker;
}
