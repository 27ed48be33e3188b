// Panels with code that nobody edits: the two versions of a conflict, and the solution.

import { button, make } from "./dom.js";
import { showDifferences, showText } from "./editor.js";

/**
 * Two versions of a cell, and the question which one to keep.
 * @param {object} options
 * @param {string} options.file name of the file
 * @param {string} options.page the text in the page
 * @param {string} options.saved the text in the file
 * @param {(choice: "page" | "file") => void} options.onChoice
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
 * The solution of a function; with the student's code, both are compared.
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.solution
 * @param {string | null} options.yours
 * @param {() => void} options.onClose
 */
export function solutionPanel({ name, solution, yours, onClose }) {
  const shown = yours === null ?
    showText(solution, `Solution of ${name}`) :
    twoTexts({ label: "Your code", text: yours }, { label: "Solution", text: solution });
  return make("section", { class: "solution", "aria-label": `Solution of ${name}` },
    make("h4", { tabIndex: -1 }, yours === null ? `Solution of ${name}` : `Your ${name} and the solution`),
    shown, make("p", { class: "actions" }, button("Close", onClose)));
}

/** @param {{label: string, text: string}} first @param {{label: string, text: string}} second */
function twoTexts(first, second) {
  const { element, isUnified } = showDifferences(first, second);
  const labels = make("p", { class: isUnified ? "two-labels unified" : "two-labels" },
    make("span", { class: "first" }, first.label), make("span", { class: "second" }, second.label));
  return make("div", { class: "two-texts" }, labels, element);
}
