// The editor of the start page. What a check says of a few edits was recorded (`make picture`), so that no Python is needed.

import { button, make } from "./dom.js";
import { errorMap } from "./error_map.js";
import { renderReport } from "./report.js";

const place = document.querySelector(".try"); // none if home.js has put the map there meanwhile
/** @type {{edits: {edit: string, code: string, report: any}[], map: import("./error_map.js").ErrorMap}} */
const { edits, map } = await (await fetch(new URL("example.json", import.meta.url))).json();
const { code, report: { labels } } = edits[0];
const editor = make("textarea", { "aria-label": "attention.py", rows: 8, spellcheck: false, value: code, oninput: show });
const note = make("p", { role: "status" });
const result = make("div");

/** Return code without what makes no difference here. @param {string} text */
function plain(text) {
  return text.replace(/#.*|\s/g, "").replace(/[qk]\.shape\[-1\]/g, "d_k");
}

function show() {
  const edit = edits.find((one) => plain(one.code) === plain(editor.value));
  result.className = edit ? "" : "outdated";
  note.className = edit ? "visually-hidden" : ""; // The report says the same.
  if (!edit) {
    note.replaceChildren("This page knows the reports of a few edits only. ",
      make("a", { href: "attention.html#attention.attention" }, "The lesson"), " checks any code.");
    return;
  }
  const report = renderReport(edit.report);
  if (edit.report.passed) report.append(errorMap(map, labels));
  result.replaceChildren(report);
  note.textContent = `${edit.report.headline}: ${edit.report.cards[0]?.mistake?.title ?? "every value is right"}.`;
}

const choices = edits.map((edit) => button(edit.edit || "as it is", () => {
  editor.value = edit.code;
  show();
}));
const hint = make("p", {}, "Something is missing behind the product of q and k. Write it, or try one of these:");
place?.replaceChildren(...place.querySelectorAll("h2"), hint, editor, make("p", { class: "buttons" }, ...choices), note, result);
show();
