// Full-text search over all pages. The index is loaded when the search is used for the first time.

import { make } from "./dom.js";

const SHOWN = 12; // results

/**
 * One heading of a page, with the text below it.
 * @typedef {{id: number, page: string, anchor: string, title: string, heading: string, text: string}} Entry
 */

/** Shows the search box, and makes `/` put the cursor into it. */
export function startSearch() {
  const form = /** @type {HTMLFormElement | null} */ (document.querySelector("form.search"));
  if (!form) return;
  const input = /** @type {HTMLInputElement} */ (form.querySelector("input"));
  const view = new ResultsView(form, input);
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("focus", () => view.load());
  input.addEventListener("input", () => view.search(input.value));
  input.addEventListener("keydown", (event) => view.pressed(event));
  form.addEventListener("focusout", (event) => {
    if (!form.contains(/** @type {Node | null} */ (event.relatedTarget))) view.close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.isContentEditable || target.closest("input, textarea, select")) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

/**
 * Load the index of the site, and return what finds words as they are, else similar ones, the best first.
 * @returns {Promise<(query: string) => {entry: Entry, terms: string[]}[]>}
 */
async function loadIndex() {
  const [{ default: MiniSearch }, reply] = await Promise.all([
    import("./vendor/minisearch.js"),
    fetch(new URL("search.json", import.meta.url)),
  ]);
  if (!reply.ok) throw new Error(`the index cannot be loaded (${reply.status})`);
  const rows = /** @type {string[][]} */ (await reply.json());
  const entries = rows.map(([page, anchor, title, heading, text], id) => ({ id, page, anchor, title, heading, text }));
  const index = new MiniSearch({
    fields: ["heading", "title", "text"],
    searchOptions: { prefix: true, combineWith: "AND", boost: { heading: 6, title: 2 } },
  });
  index.addAll(entries);
  return (query) => {
    const exact = index.search(query);
    const found = exact.length ? exact : index.search(query, { fuzzy: 0.15 });
    return found.map(({ id, terms }) => ({ entry: entries[id], terms }));
  };
}

/** The list of results below the search box: arrows choose, Enter opens, Escape closes. */
class ResultsView {
  /** @param {HTMLFormElement} form @param {HTMLInputElement} input */
  constructor(form, input) {
    this.input = input;
    this.panel = /** @type {HTMLElement} */ (form.querySelector(".search-panel"));
    this.status = /** @type {HTMLElement} */ (form.querySelector(".search-status"));
    this.list = /** @type {HTMLElement} */ (form.querySelector("ul"));
    this.chosen = -1;
    /** @type {ReturnType<typeof loadIndex> | null} */
    this.find = null;
    // A press on a result must not take the focus away from the box, which would close the list before the click.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
  }

  /** Begins to load the index, unless it is loading or loaded already. */
  load() {
    this.find ??= loadIndex();
    this.find.catch(() => {
      this.find = null; // The next use tries again. `search` shows the error.
    });
    return this.find;
  }

  /** @param {string} query */
  async search(query) {
    if (!query.trim()) {
      this.close();
      return;
    }
    try {
      const find = await this.load();
      if (query === this.input.value) this.show(find(query), query);
    } catch (error) {
      this.list.replaceChildren();
      this.status.textContent = `Search does not work: ${error instanceof Error ? error.message : error}.`;
      this.open();
    }
  }

  /** @param {{entry: Entry, terms: string[]}[]} results @param {string} query */
  show(results, query) {
    const shown = results.slice(0, SHOWN);
    this.list.replaceChildren(...shown.map(({ entry, terms }, number) => resultItem(entry, terms, number)));
    const found = results.length === 1 ? "1 result" : `${results.length} results`;
    this.status.textContent = results.length
      ? found + (results.length > SHOWN ? `, the best ${SHOWN} are shown` : "")
      : `Nothing found for “${query.trim()}”.`;
    this.open();
    this.choose(shown.length ? 0 : -1);
  }

  open() {
    this.panel.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
  }

  close() {
    this.panel.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }

  /** @param {number} number */
  choose(number) {
    this.chosen = number;
    [...this.list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === number)));
    const item = this.list.children[number];
    if (item) {
      this.input.setAttribute("aria-activedescendant", item.id);
      item.scrollIntoView({ block: "nearest" });
    } else {
      this.input.removeAttribute("aria-activedescendant");
    }
  }

  /** @param {KeyboardEvent} event */
  pressed(event) {
    const count = this.list.children.length;
    if (event.key === "Escape") {
      if (this.panel.hidden) this.input.blur();
      this.close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && count && !this.panel.hidden) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.choose((this.chosen + step + count) % count);
    } else if (event.key === "Enter" && !this.panel.hidden) {
      const item = this.list.children[this.chosen];
      if (item) /** @type {HTMLAnchorElement} */ (item.querySelector("a")).click();
    }
  }
}

/** @param {Entry} entry @param {string[]} terms that were found in it @param {number} number */
function resultItem(entry, terms, number) {
  const link = make("a", { href: entry.page + (entry.anchor ? `#${entry.anchor}` : ""), tabIndex: -1 },
    make("span", { class: "result-page" }, entry.title),
    make("span", { class: "result-heading" }, entry.heading),
    excerpt(entry.text, terms));
  return make("li", { id: `search-result-${number}`, role: "option" }, link);
}

/** Returns the text around the first term that occurs in it. @param {string} text @param {string[]} terms */
function excerpt(text, terms) {
  const lower = text.toLowerCase();
  const places = terms.map((term) => ({ start: lower.indexOf(term), term })).filter(({ start }) => start >= 0);
  const { start, term } = places.sort((a, b) => a.start - b.start)[0] ?? { start: 0, term: "" };
  const from = start > 50 ? text.indexOf(" ", start - 50) + 1 || start : 0;
  const to = text.length > from + 160 ? text.lastIndexOf(" ", from + 160) : text.length;
  return make("span", { class: "result-text" }, (from ? "… " : "") + text.slice(from, start),
    make("mark", {}, text.slice(start, start + term.length)),
    text.slice(start + term.length, to) + (to < text.length ? " …" : ""));
}
