// Downloads: progress, digests, and one clear line for each way to fail.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Downloads } from "../../../../autograder/web/site/static/browser_downloads.js";
import { messageOf } from "./parts.mjs";

const BASE = "https://example.org/assets/";
const CONTENT = new TextEncoder().encode("the file");
const ENTRY = { url: "https://cdn.example/a/pyodide.mjs", bytes: 8, sha256: hash(CONTENT) };

function hash(content) {
  return createHash("sha256").update(content).digest("hex");
}

function make(respond) {
  const asked = [];
  const progress = [];
  const fetch = async (url, { cache }) => {
    asked.push([url, cache]);
    return respond(url, cache);
  };
  return { downloads: new Downloads(BASE, { fetch, onProgress: (p) => progress.push(p) }), asked, progress };
}

test("a file is loaded once, and its progress shown", async () => {
  const { downloads, asked, progress } = make(() => new Response(CONTENT));
  const [first, second] = await Promise.all([downloads.get(ENTRY), downloads.get(ENTRY)]);
  assert.equal(Buffer.from(first).toString(), "the file");
  assert.equal(first, second);
  assert.deepEqual(asked, [[ENTRY.url, "default"]]);
  assert.deepEqual(progress[0], { loaded: 0, total: 8 });
  assert.deepEqual(progress[progress.length - 1], { loaded: 8, total: 8 });
});

test("addresses of the site's own files are relative to assets", async () => {
  const { downloads, asked } = make(() => new Response(CONTENT));
  await downloads.get({ ...ENTRY, url: "../pyodide/pyodide.mjs" });
  assert.equal(asked[0][0], "https://example.org/pyodide/pyodide.mjs");
});

test("an old file in the browser's cache is asked for again", async () => {
  const { downloads, asked, progress } = make((_url, cache) => new Response(cache === "reload" ? CONTENT : "old"));
  assert.equal(Buffer.from(await downloads.get(ENTRY)).toString(), "the file");
  assert.deepEqual(asked.map(([, cache]) => cache), ["default", "reload"]);
  assert.deepEqual(progress[progress.length - 1], { loaded: 8, total: 8 });
});

test("a file with another digest is not used", async () => {
  const { downloads } = make(() => new Response("something else"));
  const message = await messageOf(downloads.get(ENTRY));
  assert.match(message, /^pyodide\.mjs from cdn\.example is not the expected file.* was not used/);
});

test("an address that cannot be reached is named, and tried again when asked again", async () => {
  let isOnline = false;
  const { downloads } = make(() => {
    if (!isOnline) {
      throw new TypeError("Failed to fetch");
    }
    return new Response(CONTENT);
  });
  assert.match(await messageOf(downloads.get(ENTRY)), /^pyodide\.mjs could not be loaded from cdn\.example\. Are you offline/);
  assert.match(await messageOf(downloads.index()), /^pyodide\.json could not be loaded from example\.org/);
  isOnline = true;
  assert.equal((await downloads.get(ENTRY)).byteLength, 8);
});

test("an answer that is no file says what the server answered", async () => {
  const { downloads } = make(() => new Response("no", { status: 404 }));
  assert.match(await messageOf(downloads.get(ENTRY)), /\(HTTP 404\)/);
});

test("a connection that breaks is one line", async () => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new TypeError("network error")) });
  const { downloads } = make(() => new Response(broken));
  assert.match(await messageOf(downloads.get(ENTRY)), /could not be loaded/);
});
