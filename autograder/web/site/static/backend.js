// Choose the back end of a lesson page: what saves and checks the student's code.
//
// A back end has `name`, `canInterrupt`, `request(action, payload)`, which resolves with the reply, and
// `listen(callback)`, which receives events. The actions are described in autograder/web/lesson_backend.py.

/**
 * @typedef {object} Page
 * @property {string} backend "server", "browser" or "none"
 * @property {string} module the assignment that the page shows, or ""
 *
 * @typedef {object} Backend
 * @property {string} name
 * @property {boolean} canInterrupt whether a check can be cancelled at no cost
 * @property {(action: string, payload?: object) => Promise<any>} request throws BackendError
 * @property {(callback: (event: any) => void) => void} listen
 */

/**
 * Return the back end that the page was made for; null if it is only for reading.
 * @param {Page} page
 * @returns {Promise<Backend | null>}
 */
export async function connect(page) {
  if (page.backend === "server") return (await import("./backend_server.js")).connect(page);
  if (page.backend === "browser") return (await import("./backend_browser.js")).connect();
  return null;
}
