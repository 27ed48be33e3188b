// Keep the files of the workspace in this browser (IndexedDB), and tell other tabs of the site about changes.

const STORE = "files";

/** The files of a workspace by path, in IndexedDB. Files that cannot be kept are in memory only. */
export class WorkspaceStore {
  /** Why nothing is kept, in one line; empty while everything is. */
  problem = "";
  /** @type {IDBDatabase | null} */
  #database = null;
  /** @type {BroadcastChannel | null} */
  #channel = null;

  /**
   * @param {string} name of the database: one for each place where the site is
   * @param {{indexedDB?: IDBFactory, BroadcastChannel?: typeof BroadcastChannel}} [scope]
   */
  constructor(name, scope = globalThis) {
    this.name = name;
    this.scope = scope;
  }

  /** Return the kept files; none if the browser keeps nothing. @returns {Promise<Map<string, Uint8Array>>} */
  async open() {
    try {
      this.#database = await this.#connect();
      const transaction = this.#database.transaction(STORE, "readonly");
      const store = transaction.objectStore(STORE);
      const [paths, contents] = await Promise.all([result(store.getAllKeys()), result(store.getAll())]);
      return new Map(paths.map((path, i) => [String(path), contents[i]]));
    } catch {
      this.#forget();
      return new Map();
    }
  }

  /** @returns {Promise<IDBDatabase>} */
  async #connect() {
    if (!this.scope.indexedDB) throw new Error("no IndexedDB");
    const opening = this.scope.indexedDB.open(this.name, 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    return result(opening);
  }

  /**
   * Write changed files, delete removed ones, and tell other tabs. Sets `problem` if they cannot be written.
   * @param {Map<string, Uint8Array>} changed
   * @param {string[]} removed
   */
  async write(changed, removed) {
    if (!this.#database || (!changed.size && !removed.length)) return;
    try {
      const transaction = this.#database.transaction(STORE, "readwrite");
      const store = transaction.objectStore(STORE);
      changed.forEach((content, path) => store.put(content, path));
      removed.forEach((path) => store.delete(path));
      await finished(transaction);
      this.#channel?.postMessage([...changed.keys(), ...removed]);
    } catch {
      this.#forget();
    }
  }

  /**
   * Return the kept content of some files; null for those that were removed.
   * @param {string[]} paths
   * @returns {Promise<Map<string, Uint8Array | null>>}
   */
  async read(paths) {
    if (!this.#database) return new Map();
    const store = this.#database.transaction(STORE, "readonly").objectStore(STORE);
    const contents = await Promise.all(paths.map((path) => result(store.get(path))));
    return new Map(paths.map((path, i) => [path, contents[i] ?? null]));
  }

  /** Call back with the paths of files that another tab has written. @param {(paths: string[]) => void} callback */
  listen(callback) {
    if (this.scope.BroadcastChannel) {
      this.#channel = new this.scope.BroadcastChannel(this.name);
      this.#channel.onmessage = ({ data }) => callback(data);
    }
  }

  /** Stop listening and writing. */
  close() {
    this.#channel?.close();
    this.#database?.close();
    this.#database = this.#channel = null;
  }

  #forget() {
    this.#database = null;
    this.problem =
      "This browser keeps no data for this page (a private window, or storage is full or switched off): " +
      "your work is lost when you close it. Export it first.";
  }
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function result(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
function finished(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
}
