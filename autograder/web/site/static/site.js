// What scripts add to every page: search, the mark in the contents, sliders below figures, and keyboard access to what
// scrolls sideways.
// Without scripts, every page can be read; see also theme.js.
import { make } from "./dom.js";
import { startSearch } from "./search.js";

startSearch();
/** @type {NodeListOf<HTMLImageElement>} */ (document.querySelectorAll("img[data-frames]")).forEach(addSlider);
const contents = document.getElementById("contents");
if (contents) followReading(contents);
makeScrollersFocusable();
addEventListener("resize", makeScrollersFocusable);
if (document.querySelector(".try")) import("./try.js");
if (document.documentElement.dataset.backend !== "server" && navigator.serviceWorker) keepForOffline(navigator.serviceWorker);

/**
 * Marks the section that is being read, and closes the contents of a narrow screen once an entry has been chosen.
 * @param {HTMLElement} nav
 */
function followReading(nav) {
  const course = nav.querySelector("details");
  if (course) course.open = matchMedia("(min-width: 66rem)").matches; // On a phone, what is on this page comes first.
  const links = new Map([...nav.querySelectorAll("a")].filter((link) => link.hash).map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const sections = [...links.keys()].map((id) => document.getElementById(id)).filter((section) => section !== null);
  const visible = new Set();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) visible.add(target);
        else visible.delete(target);
      }
      const current = sections.find((section) => visible.has(section));
      for (const [id, link] of links) {
        if (current?.id === id) link.setAttribute("aria-current", "true");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "0px 0px -60% 0px" },
  );
  for (const section of sections) observer.observe(section);
  nav.addEventListener("click", (event) => {
    if (/** @type {Element} */ (event.target).closest("a") && nav.matches(":popover-open")) nav.hidePopover();
  });
}

/** Keeps what is loaded for readers without a network. There is no service worker without https or localhost. @param {ServiceWorkerContainer} workers */
async function keepForOffline(workers) {
  const isFirst = !workers.controller;
  await workers.register(new URL("../service_worker.js", import.meta.url)).catch(() => {}); // Storage may be switched off.
  const { active } = await workers.ready;
  if (isFirst) active?.postMessage([location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)]);
}

/** Adds a slider that chooses the frame of a figure; the file shows its last one. @param {HTMLImageElement} image */
function addSlider(image) {
  const [name, ...labels] = image.dataset.frames?.split("|") ?? [];
  const last = labels.length - 1;
  const value = make("output");
  const slider = make("input", { type: "range", max: String(last), value: String(last), oninput: () => {
    image.src = `${image.src.split("#")[0]}#f${slider.value}`;
    show();
  } });
  const show = () => slider.setAttribute("aria-valuetext", (value.textContent = labels[slider.valueAsNumber]));
  show();
  image.closest("figure")?.append(make("label", { class: "frames" }, `${name} `, slider, value));
}

/** Lets the arrow keys scroll code, tables and formulas that are wider than the page. */
function makeScrollersFocusable() {
  for (const [number, box] of document.querySelectorAll("main :is(pre, .table, .formula, figure)").entries()) {
    const attributes = { tabindex: "0", ...(box.matches("div, span") && { role: "region", "aria-label": `Wide part ${number + 1}` }) };
    for (const [name, value] of Object.entries(attributes)) {
      if (box.scrollWidth > box.clientWidth + 1) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  }
}
