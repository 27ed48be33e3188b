// What scripts add to every page: search, the mark in the contents, and keyboard access to what scrolls sideways.
// Without scripts, every page can be read; see also theme.js.
import { startSearch } from "./search.js";

startSearch();
const contents = document.getElementById("contents");
if (contents) followReading(contents);
makeScrollersFocusable();
addEventListener("resize", makeScrollersFocusable);

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
