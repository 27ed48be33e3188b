// Download what the page needs to run Python, and use nothing whose SHA-256 is not the expected one.
import { BackendError } from "./backend_error.js";

/**
 * One file to download, an entry of pyodide.json.
 * @typedef {{url: string, sha256: string, bytes: number, name?: string, wheel?: boolean, training?: boolean}} Entry
 * @typedef {{loaded: number, total: number}} Progress
 */

/** Downloads files once, and keeps them in memory so that a new worker does not load them again. */
export class Downloads {
  /** @type {Map<string, Promise<ArrayBuffer>>} */
  #files = new Map();
  #progress = { loaded: 0, total: 0 };

  /**
   * @param {string | URL} base the address of the folder `assets/`
   * @param {{fetch?: typeof globalThis.fetch, digest?: (data: ArrayBuffer) => Promise<string>,
   *          onProgress?: (progress: Progress) => void}} [options]
   */
  constructor(base, { fetch = globalThis.fetch.bind(globalThis), digest = sha256, onProgress = () => {} } = {}) {
    this.base = base;
    this.fetch = fetch;
    this.digest = digest;
    this.onProgress = onProgress;
  }

  /** Return what pyodide.json says: where each file is, and its digest. */
  async index() {
    const response = await this.#request(new URL("pyodide.json", this.base), { cache: "no-cache" });
    return response.json();
  }

  /**
   * Return the verified content of a file; a second call returns the same one.
   * @param {Entry} entry
   * @returns {Promise<ArrayBuffer>}
   */
  get(entry) {
    if (!this.#files.has(entry.sha256)) {
      const file = this.#verified(entry);
      this.#files.set(entry.sha256, file);
      file.catch(() => this.#files.delete(entry.sha256)); // The next request tries again.
    }
    return /** @type {Promise<ArrayBuffer>} */ (this.#files.get(entry.sha256));
  }

  /** @param {Entry} entry */
  async #verified(entry) {
    const url = new URL(entry.url, this.base);
    const counted = { received: 0 };
    this.#count(0, entry.bytes);
    // The browser's cache may still hold the file of an older version of this site: then it is asked for again.
    for (const cache of /** @type {RequestCache[]} */ (["default", "reload"])) {
      const data = await this.#read(url, cache, counted);
      if ((await this.digest(data)) === entry.sha256) {
        this.#count(0, data.byteLength - entry.bytes); // The index states the sizes of wheels roughly.
        return data;
      }
      this.#count(-counted.received, 0);
      counted.received = 0;
    }
    throw new BackendError(
      `${fileName(url)} from ${url.host} is not the expected file (its SHA-256 differs), so it was not used. ` +
        "Reload the page; if that does not help, tell whoever runs this site.",
    );
  }

  /**
   * @param {URL} url
   * @param {RequestCache} cache
   * @param {{received: number}} counted
   * @returns {Promise<ArrayBuffer>}
   */
  async #read(url, cache, counted) {
    const response = await this.#request(url, { cache });
    if (!response.body) return response.arrayBuffer();
    try {
      const count = (/** @type {Uint8Array} */ part, /** @type {TransformStreamDefaultController} */ rest) => {
        counted.received += part.length;
        this.#count(part.length, 0);
        rest.enqueue(part);
      };
      const body = response.body.pipeThrough(new TransformStream({ transform: count }));
      return await new Response(body).arrayBuffer();
    } catch {
      throw unreachable(url);
    }
  }

  /** @param {URL} url @param {RequestInit} options */
  async #request(url, options) {
    let response;
    try {
      response = await this.fetch(url.href, options);
    } catch {
      throw unreachable(url);
    }
    if (!response.ok) {
      throw new BackendError(`${fileName(url)} could not be loaded from ${url.host} (HTTP ${response.status}).`);
    }
    return response;
  }

  /** @param {number} loaded @param {number} total */
  #count(loaded, total) {
    this.#progress = { loaded: this.#progress.loaded + loaded, total: this.#progress.total + total };
    this.onProgress(this.#progress);
  }
}

/** @param {URL} url */
function unreachable(url) {
  return new BackendError(
    `${fileName(url)} could not be loaded from ${url.host}. Are you offline, or is this address blocked? ` +
      "You can read on; to check code, connect and reload the page.",
  );
}

/** @param {URL} url */
function fileName(url) {
  return url.pathname.slice(url.pathname.lastIndexOf("/") + 1);
}

/** Return the SHA-256 as hex digits. @param {ArrayBuffer} data */
export async function sha256(data) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
