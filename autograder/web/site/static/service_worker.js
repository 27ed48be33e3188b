// Keeps the files that pages of the built site have loaded, so that these work again without a network.
//
// `build.py` puts FILES in front of this program, the SHA-256 of each file of the site by its address, and VERSION. A
// file that differs is of another build: it is passed on, but not kept, so that no cache mixes two builds.

const ROOT = new URL("./", location.href).href;
const PREFIX = `headway ${ROOT} `; // Other sites may have the same origin.

/** Return the address of a file relative to the site. @param {string} url */
function nameOf(url) {
  const { origin, pathname } = new URL(url);
  return (origin + pathname).replace(ROOT, "") || "index.html";
}

/** Keep a response if it is a file of this build. @param {string} name @param {Response} response */
async function keep(name, response) {
  const digest = await crypto.subtle.digest("SHA-256", await response.clone().arrayBuffer());
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex === FILES[name]) await (await caches.open(PREFIX + VERSION)).put(new URL(name, ROOT), response);
}

/** Load a file; without a network, take the one that is kept. @param {FetchEvent} event @param {string} name */
async function load(event, name) {
  try {
    const response = await fetch(event.request);
    if (response.status === 200) event.waitUntil(keep(name, response.clone()));
    return response;
  } catch (error) {
    const found = await (await caches.open(PREFIX + VERSION)).match(new URL(name, ROOT));
    if (found) return found;
    if (event.request.mode !== "navigate") throw error;
    return new Response("You are offline, and this page was not opened before. Go back.");
  }
}

async function activate() {
  const names = await caches.keys();
  await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== PREFIX + VERSION).map((name) => caches.delete(name)));
  await clients.claim();
}

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(activate()));
addEventListener("fetch", (event) => {
  const name = nameOf(event.request.url);
  if (event.request.method === "GET" && name in FILES) event.respondWith(load(event, name));
});
// What the first page had loaded before this program began.
addEventListener("message", (event) => event.waitUntil(Promise.all(event.data.map(async (/** @type {string} */ url) => {
  if (nameOf(url) in FILES) await keep(nameOf(url), await fetch(url));
}))));
