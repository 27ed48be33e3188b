// Panels with code that nobody edits: the two versions of a conflict, a solution, a failed call.

import { button, make } from "./dom.js";
import { showDifferences, showText } from "./editor.js";

/**
 * Two versions of a cell, the text in the page and the saved one in the file, and the question which one to keep.
 * @param {{file: string, page: string, saved: string, onChoice: (choice: "page" | "file") => void}} options
 */
export function conflictPanel({ file, page, saved, onChoice }) {
  return make("section", { class: "conflict", "aria-label": `Two versions of ${file}` },
    make("p", { role: "alert" }, `${file} was changed elsewhere while you were typing here. Which text do you want to keep?`),
    twoTexts({ label: "In this page", text: page }, { label: `In ${file}`, text: saved }),
    make("p", { class: "actions" },
      button("Keep the text of this page", () => onChoice("page")),
      button(`Take the text of ${file}`, () => onChoice("file"))));
}

/**
 * Code under a title: a failed call, or the solution of a function, also beside the student's code.
 * @param {{title: string, text: string, yours: string | null, onClose: () => void}} options
 */
export function codePanel({ title, text, yours, onClose }) {
  const shown = yours === null ? showText(text, title) :
    twoTexts({ label: "Your code", text: yours }, { label: "Solution", text });
  return make("section", { class: "solution", "aria-label": title },
    make("h3", { tabIndex: -1 }, title), shown, make("p", { class: "actions" }, button("Close", onClose)));
}

/** @param {{label: string, text: string}} first @param {{label: string, text: string}} second */
function twoTexts(first, second) {
  const { element, isUnified } = showDifferences(first, second);
  const labels = make("p", { class: isUnified ? "two-labels unified" : "two-labels" },
    make("span", { class: "first" }, first.label), make("span", { class: "second" }, second.label));
  return make("div", { class: "two-texts" }, labels, element);
}
