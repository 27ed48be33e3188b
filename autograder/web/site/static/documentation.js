// A function's documentation for the panel beside its editor: the docstring of the stub, laid out.

import { make, withCode } from "./dom.js";

const SECTION = /^(Args|Returns|Raises|Yields|Example|Examples|Note|Notes):$/;

/**
 * Return the docstring of a function in the source of a cell, without its indentation; empty if it has none.
 * @param {string} source
 * @param {string} name
 */
export function docstring(source, name) {
  const start = source.search(new RegExp(`^(async )?def ${name}\\b`, "m"));
  const found = start < 0 ? null : source.slice(start).match(/^[^"']*?:\s*\n\s+[rR]?("""|''')([^]*?)\1/);
  if (!found) return "";
  const lines = found[2].split("\n");
  const indents = lines.slice(1).filter((line) => line.trim()).map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents, 80);
  return [lines[0].trim(), ...lines.slice(1).map((line) => line.slice(indent).trimEnd())].join("\n").trim();
}

/**
 * Return the first line of a definition: "softmax(x, temperature=1.0, axis=-1)".
 * @param {string} source
 * @param {string} name
 */
export function signature(source, name) {
  const found = source.match(new RegExp(`^(?:async )?def (${name}\\([^]*?\\))(?: *->[^:]*)?:`, "m"));
  return found ? found[1].replace(/\s+/g, " ").replace("( ", "(").replace(/,? \)$/, ")") : name;
}

/**
 * Lay out a docstring: paragraphs, formulas and tables as they are, arguments as a list of terms.
 * @param {string} text
 * @returns {DocumentFragment}
 */
export function layOut(text) {
  const laidOut = document.createDocumentFragment();
  let inSection = false;
  for (const block of text.split(/\n\s*\n/)) {
    const lines = block.split("\n");
    if (SECTION.test(lines[0])) {
      laidOut.append(make("p", { class: "docs-section" }, lines[0].slice(0, -1)));
      inSection = true;
      lines.shift();
    } else if (!lines[0].startsWith(" ")) {
      inSection = false;
    }
    if (inSection) appendTerms(laidOut, lines);
    else if (lines[0].startsWith(" ")) laidOut.append(make("pre", {}, block.replace(/^ {4}/gm, "")));
    else laidOut.append(make("p", {}, ...withCode(lines.join(" "))));
  }
  return laidOut;
}

/**
 * Append the entries of a section such as Args: "name: description", continued on lines that are indented further.
 * A section may also be plain sentences, as Returns often is.
 * @param {DocumentFragment} place
 * @param {string[]} lines
 */
function appendTerms(place, lines) {
  /** @type {{term: string, text: string}[]} */
  const entries = [];
  for (const line of lines) {
    const found = line.match(/^ {4}([\w*][\w*, .]*): (.*)$/);
    const last = entries[entries.length - 1];
    if (found) entries.push({ term: found[1], text: found[2] });
    else if (last && (/^ {5,}/.test(line) || !last.term)) last.text += ` ${line.trim()}`;
    else entries.push({ term: "", text: line.trim() });
  }
  for (const { term, text } of entries) {
    if (term && !place.lastElementChild?.matches("dl")) place.append(make("dl"));
    if (term) place.lastElementChild?.append(make("dt", {}, make("code", {}, term)), make("dd", {}, ...withCode(text)));
    else place.append(make("p", { class: "docs-text" }, ...withCode(text)));
  }
}
