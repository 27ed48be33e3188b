// Take the work along: export the whole workspace as an archive, and import one.

import { ask, button, make, reason } from "./dom.js";

/** @param {string} text */
function bytes(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** @param {Uint8Array} content */
function encode(content) {
  const parts = [];
  for (let start = 0; start < content.length; start += 0x8000) {
    parts.push(String.fromCharCode(...content.subarray(start, start + 0x8000)));
  }
  return btoa(parts.join(""));
}

/**
 * Return the buttons that export and import the workspace.
 * @param {object} options
 * @param {(action: string, payload?: object) => Promise<any>} options.request throws BackendError
 * @param {() => Promise<boolean>} options.saveAll
 * @param {() => Promise<void>} options.onImported
 */
export function archivePanel({ request, saveAll, onImported }) {
  const state = make("p", { class: "archive-state", role: "status" });
  const input = make("input", { type: "file", accept: ".zip,application/zip", hidden: true, "aria-label": "Archive" });

  /** Say what happens, and what has gone wrong. @param {string} begin @param {() => Promise<string>} action */
  async function run(begin, action) {
    state.textContent = begin;
    try {
      state.textContent = await action();
    } catch (error) {
      state.textContent = reason(error);
    }
  }

  const exportAll = () => run("Making the archive …", async () => {
    await saveAll();
    const { name, base64 } = await request("export");
    const address = URL.createObjectURL(new Blob([bytes(base64)], { type: "application/zip" }));
    const link = make("a", { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
    return `Saved as ${name}. "headway init NAME --from ${name}" opens it in a terminal.`;
  });

  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    input.value = "";
    if (!file) return;
    const question = `Replace your code with that of ${file.name}? Your files are copied to backups first.`;
    if (!(await ask(question, { yes: "Replace it", no: "Keep my code" }))) return;
    await run("Importing …", async () => {
      await saveAll();
      const content = new Uint8Array(await file.arrayBuffer());
      const { notes } = await request("import", { base64: encode(content) });
      await onImported();
      return notes.join(" ") || `${file.name} was imported.`;
    });
  });

  return make("div", { class: "archive" },
    make("p", { class: "archive-title" }, "Your work"),
    make("p", { class: "actions" }, button("Export", exportAll), button("Import", () => input.click()), input), state);
}
