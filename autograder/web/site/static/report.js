// The report of a check as HTML. All sentences come from Python (autograder/report/page_report.py); here they are only
// laid out. Whatever a student wrote or printed enters the page as text, never as HTML.

import { make, shape, withCode } from "./dom.js";
import { errorMap } from "./error_map.js";
import { statusMark } from "./status_mark.js";

const FEW_TITLES = 3; // as many are shown; more of them are folded

/**
 * @typedef {{file: string, line: number, text: string}} Location
 * @typedef {{label: string, title: string, reason: string, explanation: string, hint: string}} Mistake
 * @typedef {{label: string, yours: string, expected: string, where: string, tolerance: string}} Values
 * @typedef {{yours: string, expected: string}} Shapes
 * @typedef {{
 *   function: string, title: string, status: string, word: string, points_text: string, message: string,
 *   inputs: string, also: string[], affected: string, help: string, mistake: Mistake | null, values: Values | null,
 *   shapes: Shapes | null, map: import("./error_map.js").ErrorMap | null, stage: string, location: Location | null,
 *   called_from: Location | null, output: string, warnings: string[]}} Card
 * @typedef {{status: string, count: number, word: string}} StatusCount
 * @typedef {{
 *   passed: boolean, subject: string, headline: string, points_text: string, counts: StatusCount[], seconds: number,
 *   notes: string[], internal_errors: string[], cards: Card[], waiting: string[], remaining: string,
 *   remaining_titles: string[], labels: Record<string, string>}} Report
 * @typedef {(place: {file: string, line: number}) => void} OnLocation
 */

/**
 * Return the element that shows a report.
 * @param {Report} report
 * @param {{onLocation?: OnLocation}} [options] onLocation is called with the line of a location that is clicked
 * @returns {HTMLElement}
 */
export function renderReport(report, { onLocation } = {}) {
  return make("div", { class: "report" },
    header(report),
    ...report.internal_errors.map((text) => make("p", { class: "report-internal-error" }, text)),
    ...report.cards.map((card) => cardElement(card, report.labels, onLocation)),
    report.remaining && folded(report.remaining, titles(report.remaining_titles)),
    report.waiting.length > 0 && make("ul", { class: "report-waiting report-status-blocked" },
      ...report.waiting.map((text) => make("li", {}, statusMark("blocked"), text))),
    ...report.notes.map((text) => make("p", { class: "report-note" }, text)));
}

/** @param {Report} report */
function header(report) {
  const first = report.cards[0] ?? report.counts.find(({ status }) => status !== "passed");
  const status = report.passed ? "passed" : first?.status ?? "error";
  return make("header", { class: "report-header" },
    make("h3", { class: `report-headline report-status-${status}` },
      statusMark(status), make("code", {}, report.subject), ` · ${report.headline}`),
    report.counts.length > 0 && proportions(report.counts),
    make("ul", { class: "report-counts" },
      ...report.counts.map((entry) => make("li", { class: `report-status-${entry.status}` },
        statusMark(entry.status), ` ${entry.count} ${entry.word}`)),
      make("li", {}, report.points_text),
      make("li", { class: "report-soft" }, `${report.seconds.toFixed(1)} s`)));
}

/**
 * Return a bar whose parts are as long as the counts; the list below it says the same in words.
 * @param {StatusCount[]} counts
 */
function proportions(counts) {
  let end = 0;
  const parts = counts.map(({ status, count }) => {
    end += count;
    return shape("rect", { class: `report-status-${status}`, x: end - count, width: count, height: 1 });
  });
  return shape("svg", { class: "report-bar", viewBox: `0 0 ${end} 1`, preserveAspectRatio: "none", "aria-hidden": "true" },
    ...parts);
}

/** @param {Card} card @param {Record<string, string>} labels @param {OnLocation | undefined} onLocation */
function cardElement(card, labels, onLocation) {
  const { mistake } = card;
  return make("article", { class: `report-card report-status-${card.status}` },
    make("p", { class: "report-check" },
      make("span", { class: "report-check-name" }, statusMark(card.status),
        make("code", {}, card.function), card.title && " · ",
        card.title && make("span", { class: "report-title" }, card.title)),
      make("span", { class: "report-soft" }, `${card.word}, ${card.points_text}`)),
    mistake && mistakeElement(mistake, labels),
    make(mistake ? "p" : "h4", { class: "report-message" }, card.message),
    card.help && make("p", { class: "report-help" }, card.help),
    details(card, labels, onLocation),
    card.map && errorMap(card.map, labels),
    card.output && folded(labels.output, make("pre", { class: "report-output", tabIndex: 0 }, card.output)));
}

/** @param {Mistake} mistake @param {Record<string, string>} labels */
function mistakeElement(mistake, labels) {
  return make("div", { class: "report-mistake" },
    make("p", { class: "report-kind" }, mistake.label),
    make("h4", { class: "report-mistake-title" }, ...withCode(mistake.title)),
    mistake.reason && make("p", { class: "report-reason" }, mistake.reason),
    mistake.explanation && make("p", {}, ...withCode(mistake.explanation)),
    mistake.hint && make("p", { class: "report-question" },
      make("span", { class: "report-kind" }, labels.hint), " ", ...withCode(mistake.hint)));
}

/**
 * Return the rows of a card: input, values, shapes, stages, location and more.
 * @param {Card} card
 * @param {Record<string, string>} labels
 * @param {OnLocation | undefined} onLocation
 */
function details(card, labels, onLocation) {
  const list = make("dl", { class: "report-details" });
  /** @type {(label: string, ...content: (Node | string | null | false)[]) => void} */
  const row = (label, ...content) => {
    if (content[0]) list.append(make("dt", {}, label), make("dd", {}, ...content));
  };
  row(labels.location, card.location && locationElement(card.location, onLocation));
  row(labels.called_from, card.called_from && locationElement(card.called_from, onLocation));
  row(labels.inputs, card.inputs && make("span", { class: "report-data" }, card.inputs));
  row(card.values?.label ?? "", card.values && valuesTable(card.values, labels));
  row(labels.shapes, card.shapes && pairTable(card.shapes, labels));
  row(labels.stage, card.stage);
  for (const warning of card.warnings) row(labels.warnings, make("span", { class: "report-data" }, warning));
  row(labels.affected, card.affected);
  const also = titles(card.also);
  row(labels.also, card.also.length > FEW_TITLES ? folded(`${card.also.length} more checks`, also) : card.also.length > 0 && also);
  return list.children.length > 0 && list;
}

/** @param {Location} location @param {OnLocation | undefined} onLocation */
function locationElement({ file, line, text }, onLocation) {
  const place = `${file}:${line}`;
  const link = onLocation
    ? make("button", { type: "button", class: "report-location", onclick: () => onLocation({ file, line }) }, place)
    : make("span", { class: "report-data" }, place);
  return make("span", {}, link, text && make("code", { class: "report-line" }, text));
}

/** @param {Values} values @param {Record<string, string>} labels */
function valuesTable(values, labels) {
  return make("div", {},
    values.where && make("span", { class: "report-where" }, values.where),
    pairTable(values, labels),
    values.tolerance && make("span", { class: "report-soft" }, `${labels.tolerance} ${values.tolerance}`));
}

/**
 * Return a table of what the function returned and what was expected.
 * @param {{yours: string, expected: string}} pair
 * @param {Record<string, string>} labels
 */
function pairTable(pair, labels) {
  const row = (/** @type {"yours" | "expected"} */ name) => make("tr", {},
    make("th", { scope: "row" }, labels[name]), make("td", { class: "report-data" }, pair[name]));
  return make("table", { class: "report-pair" }, make("tbody", {}, row("yours"), row("expected")));
}

/** @param {string[]} texts */
function titles(texts) {
  return make("ul", { class: "report-titles" }, ...texts.map((text) => make("li", {}, text)));
}

/** Return content that is shown when its summary is clicked. @param {string} summary @param {Node} content */
function folded(summary, content) {
  return make("details", { class: "report-folded" }, make("summary", {}, summary), content);
}
