// The start page for somebody who has begun: where to continue, what passes, and the map of the model.
//
// With `headway serve` the server says what passes. In the browser the lessons have kept it, so that no Python is started.

import { Connection } from "./connection.js";
import { count, make, shape } from "./dom.js";
import { assignmentState, keptWork, ofAllPoints } from "./progress.js";
import { statusMark } from "./status_mark.js";
import { keptModel, LastModel } from "./training_home.js";

const backend = document.documentElement.dataset.backend ?? "none";
const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const place = /** @type {HTMLElement} */ (document.querySelector(".work"));
const assignments = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("ol.assignments > li"))].map((entry, i) => ({
  module: entry.dataset.module ?? "",
  title: `assignment ${i + 1}: ${entry.querySelector("h3")?.textContent}`,
  bonus: entry.dataset.bonus ?? "",
  state: entry.appendChild(make("p", { class: "effort" })),
}));
/** @type {import("./progress.js").Work} */
let work;
/** @type {Promise<SVGElement | null> | null} the map, once the page is a home */
let home = null;

/** Show the latest work; for a newcomer the page stays as it is. @param {import("./progress.js").Work | null} latest */
async function show(latest) {
  if (!latest || Object.values(latest.statuses).every((status) => status === "not_started")) return;
  work = latest;
  home ??= makeHome();
  const map = await home;
  for (const { module, title, bonus, state } of assignments) {
    const { text, isComplete } = assignmentState({ module, bonus }, work.statuses);
    state.replaceChildren(isComplete ? statusMark("passed") : "", ` ${text}`);
    state.classList.toggle("complete", isComplete);
    for (const part of map?.querySelectorAll(`[data-module="${module}"]`) ?? []) {
      part.classList.toggle("complete", isComplete);
      if (part.matches("a")) part.setAttribute("aria-label", `${part.textContent} (${title}): ${text}`);
    }
  }
  showWhatIsNext();
}

/** @param {string} name */
function passes(name) {
  return work.statuses[name] === "passed";
}

/** Show the next function, or that the course is complete, and what can be done then. */
function showWhatIsNext() {
  const names = Object.keys(work.statuses);
  const passed = names.filter(passes);
  const bonus = assignments.flatMap((assignment) => assignment.bonus.split(" "));
  const open = names.filter((name) => !passes(name) && !bonus.includes(name));
  if (!open.length) {
    const steps = /** @type {HTMLTemplateElement | null} */ (document.querySelector("template.last-steps"));
    place.replaceChildren(
      make("h2", {}, `The course is complete: all ${count(assignments.length, "assignment")}`),
      make("p", {}, `You wrote all of it: ${count(passed.length, "function")}, ${ofAllPoints(work.earned)}.`),
      steps?.content.cloneNode(true) ?? "");
    return;
  }
  const isBegun = (/** @type {string} */ name) => ["failed", "error", "timeout", null].includes(work.statuses[name]);
  const next = open.find(isBegun) ?? open.find((name) => names.indexOf(name) > names.indexOf(passed[passed.length - 1])) ?? open[0];
  const { module, title } = assignments.find((assignment) => next.startsWith(`${assignment.module}.`)) ?? assignments[0];
  const when = backend === "browser" ? ", as last checked in this browser" : "";
  place.replaceChildren(
    make("p", {}, make("a", { class: "button", href: `${module}.html#${next}` }, "Continue with ", make("code", {}, next), ` (${title})`)),
    make("p", {}, `${passed.length} of ${count(names.length, "function")} pass${when}: ${ofAllPoints(work.earned)}.`));
}

/** Turn the page for newcomers into a home: the map in the place of the example, and the ways to begin at the end. */
async function makeHome() {
  main.classList.add("begun");
  main.append(...main.querySelectorAll(".ways"));
  const example = document.querySelector(".try");
  if (!example) return null;
  const text = await (await fetch("assets/map.svg")).text();
  const map = /** @type {any} */ (new DOMParser().parseFromString(text, "image/svg+xml").documentElement);
  for (const element of map.querySelectorAll("[data-only]:not([data-only=home])")) element.remove();
  map.setAttribute("viewBox", "0 0 860 756"); // with what the maps of the lessons do not show
  map.removeAttribute("height");
  /** @type {SVGElement | null} */
  let link = null;
  for (const part of map.querySelectorAll(":is(rect, text)[data-part]")) {
    const [module] = part.dataset.part.split(" "); // the first has the functions of this part
    const isPanel = part.getAttribute("rx") === "8";
    if (isPanel) part.dataset.module = module;
    else if (part.matches("rect")) part.before((link = shape("a", { href: `${module}.html`, "data-module": module })));
    if (!isPanel) link?.append(part);
  }
  map.setAttribute("role", "group");
  map.setAttribute("aria-label", "Map of the model and its training; each part leads to its lesson");
  example.replaceWith(make("figure", { class: "course-map" }, map,
    make("figcaption", {}, "The model that you write. Parts are green, with a thick edge, when their assignments pass.")));
  return map;
}

if (backend === "browser") {
  const model = new LastModel(keptModel);
  place.after(model.element);
  addEventListener("pageshow", () => Promise.all([show(keptWork()), model.load()])); // also on the way back from a lesson
  addEventListener("storage", () => show(keptWork())); // A lesson in another tab has kept more.
} else {
  /** @type {LastModel | null} */
  let model = null;
  const connection = new Connection({ backend, module: assignments[0].module }, {
    onEvent: (event) => {
      if (event.statuses) show({ statuses: event.statuses, earned: event.points?.earned ?? work?.earned ?? 0 });
      model?.receive(event);
    },
    onLost: (message) => place.append(make("p", { role: "status" }, message)),
  });
  await connection.start();
  try {
    const { statuses, points, features } = await connection.request("open", { module: assignments[0].module });
    show({ statuses, earned: points.earned });
    if (features.includes("train")) {
      model = new LastModel(connection);
      place.after(model.element);
      await model.load();
    }
  } catch {
    // The page stays as it is for newcomers; the lesson says what is wrong with its file.
  }
}
