// What the browser keeps for a tab (sessionStorage) or for the site (localStorage). It may keep nothing.

/** @typedef {"sessionStorage" | "localStorage"} Kind */

/** Return what is kept under a key, or null. @param {Kind} kind @param {string} key @returns {any} */
export function kept(kind, key) {
  try {
    return JSON.parse(globalThis[kind].getItem(key) ?? "null");
  } catch {
    return null; // There is no storage, or something else is there.
  }
}

/** Keep a value; null removes it. @param {Kind} kind @param {string} key @param {any} value */
export function keep(kind, key, value) {
  try {
    if (value === null) globalThis[kind].removeItem(key);
    else globalThis[kind].setItem(key, JSON.stringify(value));
  } catch {
    // There is no storage, or it is full.
  }
}
