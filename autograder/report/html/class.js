"use strict";
// Only the rows in view exist, and the statuses of a row are one element: that keeps 2,000 students with 63 functions
// fast. All text is set as textContent.
const data = JSON.parse(document.getElementById("data").textContent);
const words = data.words;                       // letter -> status
const rank = (letter) => "pbfetnxmuwi-".indexOf(letter || "-");
const grid = document.getElementById("grid");
const ROW = 26, LARGE_CELL = 40, SIGN = 10, WORD = 90;         // pixels, SIGN and WORD are the least for one
let CELL = 13, width = 0;                     // of a status, and of all statuses of a row
document.documentElement.classList.add("script");

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
const share = (s) => (s.outOf ? s.score / s.outOf : 0);
const students = data.students.map(([name, id, submission, status, reason, score, outOf, late, letters, mistakes, link, notes,
  page, section, ta, pairs, shares], number) =>
{
  if (/^x+$/.test(letters)) status = words.x;
  return { name, id, submission, status, reason, score, outOf, late, letters, mistakes, link, notes, page, section, ta, pairs, shares,
    number, text: `${name} ${id} ${submission} ${status} ${reason} ${section} ${ta}`.toLowerCase() };
});
let shown = students, sortBy = "name", reversed = false, onlyMistake = null, onlyGroup = null, chosen = null;
const hasSections = students.some((s) => s.section);

// Neighbors with the same letter, as letter, start and end.
const runs = (letters) => [...letters.matchAll(/(.)\1*/g)].map(({ 0: run, index }) => [run[0], index, index + run.length]);
const strips = new Map();                       // the background of a row's statuses
const strip = (letters) => {
  if (!strips.has(letters)) {
    const layer = (color) => `linear-gradient(to right, ${runs(letters).map(([letter, start, end]) =>
      `${color(letter)} ${start * CELL}px ${end * CELL}px`).join(", ")})`;
    const lines = `repeating-linear-gradient(to right, var(--paper) 0 1px, transparent 1px ${CELL}px)`;
    const covers = CELL < SIGN ? ["tbfe", "fe", "e"] : [];     // from above, where there is no room for signs
    strips.set(letters, [CELL < 5 ? "none" : lines,
      ...covers.map((low) => layer((letter) => low.includes(letter) ? "var(--paper)" : "transparent")),
      layer((letter) => letter === "-" ? "transparent" : `var(--${letter})`)].join(", "));
  }
  return strips.get(letters);
};
const count = (letters, letter) => letters.split(letter).length - 1;
const statusText = (s) => s.letters && s.status === "graded"
  ? Object.entries(words).filter(([l]) => count(s.letters, l)).map(([l, w]) => `${count(s.letters, l)} ${w}`).join(", ")
  : `${s.status}${s.reason ? `: ${s.reason}` : ""}`;

function makeRow(student, place) {
  const button = make("button", { type: "button", dir: "auto", title: student.name }, student.name);
  button.addEventListener("click", () => showDetail(student));
  const hasScore = student.outOf && (["graded", "unreadable"].includes(student.status) || student.score);
  const cell = (className, text, more) => make("div", { class: className, role: "cell", ...more }, text);
  const cells = cell("strip", "", { "aria-label": statusText(student), "data-number": student.number });
  cells.style.width = `${width}px`;
  if (student.letters) cells.style.backgroundImage = strip(student.letters);
  // A sign besides the color, except for what passed; one for all cells of an assignment without a result.
  for (const [letter, start, end] of runs(student.letters)) {
    const isState = data.states.includes(letter), size = isState ? end - start : 1;
    if (!data.marks[letter] || size * CELL < SIGN) continue;
    for (let at = start; at < end; at += size) {
      const text = data.marks[letter] + (isState && size * CELL > WORD ? ` ${words[letter]}` : "");
      const sign = make("span", { class: `s-${letter} ${isState ? "all" : "one"}`, "aria-hidden": "true" }, text);
      sign.style.left = `${at * CELL}px`;
      sign.style.width = `${size * CELL}px`;
      cells.append(sign);
    }
  }
  return make("div", { class: student === chosen ? "row chosen" : "row", role: "row", "aria-rowindex": place + 2 },
    make("div", { class: "name", role: "rowheader" }, button),
    cell("score", hasScore ? `${Math.round(share(student) * 1000) / 10}%` : "–"),
    cell("state", student.status === "graded" ? "" : student.status, { title: student.reason }),
    cell("late", student.late ? `${student.late} d` : ""),
    ...(hasSections ? [cell("section", student.section)] : []),
    cells);
}

const labels = data.groups.map(([name, size]) => [make("span", { title: name }, name), size]);
const groups = make("div", { class: "groups", role: "columnheader" },
  make("div", { class: "unseen" }, "status of every function, in course order: "), ...labels.map(([label]) => label));
const columns = { name: "student", score: "score", state: "status", late: "late", ...(hasSections && { section: "section" }) };
const head = make("div", { class: "row head", role: "row", "aria-rowindex": 1 },
  ...Object.entries(columns).map(([name, text]) => make("div", { class: name, role: "columnheader" }, text)), groups);
const space = make("div", { role: "rowgroup" });  // as high as all rows, for the scroll bar
space.style.position = "relative";
grid.append(head, space);
grid.style.maxHeight = `${(students.length + 2) * ROW}px`;  // no empty space below a small class

// The statuses use the width of the screen, as far as they stay cells.
function layout() {
  const used = [...head.children].reduce((sum, cell) => sum + (cell === groups ? 0 : cell.offsetWidth), 0);
  const room = (grid.clientWidth - used - 4) / Math.max(1, data.functions.length);
  // A phone shows all of them, if only as colors.
  const isPhone = matchMedia("(max-width: 40rem)").matches;
  CELL = isPhone ? Math.max(1, Math.floor(2 * room) / 2) : Math.max(13, Math.min(LARGE_CELL, Math.floor(room)));
  width = data.functions.length * CELL;
  grid.classList.toggle("narrow", CELL < SIGN);
  strips.clear();
  groups.style.width = `${width}px`;
  let start = 0;
  for (const [label, size] of labels) {
    label.style.left = `${start * CELL}px`;
    label.style.width = `${size * CELL}px`;
    start += size;
  }
}

function draw() {
  space.style.height = `${shown.length * ROW}px`;
  space.style.minWidth = `${head.offsetWidth}px`;
  const first = Math.max(0, Math.floor(grid.scrollTop / ROW) - 6);
  const last = Math.min(shown.length, Math.ceil((grid.scrollTop + grid.clientHeight) / ROW) + 6);
  const place = document.activeElement?.closest(".row")?.getAttribute("aria-rowindex");
  const rows = [];
  for (let i = first; i < last; i += 1) {
    const row = makeRow(shown[i], i);
    row.style.top = `${i * ROW}px`;
    rows.push(row);
  }
  space.replaceChildren(...rows);
  if (place) space.querySelector(`[aria-rowindex="${place}"] button`)?.focus({ preventScroll: true });
}

const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
const orders = {
  name: (a, b) => collator.compare(a.name, b.name),
  id: (a, b) => collator.compare(a.id, b.id),
  score: (a, b) => share(b) - share(a),
  status: (a, b) => collator.compare(a.status, b.status),
  late: (a, b) => b.late - a.late,
  ...(hasSections ? { section: (a, b) => collator.compare(a.section, b.section) } : {}),
};
function update() {
  const wanted = document.getElementById("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  shown = students.filter((s) => wanted.every((word) => s.text.includes(word))
    && (onlyMistake === null || s.mistakes.includes(onlyMistake))
    && (onlyGroup === null || s[onlyGroup[0]] === onlyGroup[1]));
  const column = data.functions.indexOf(sortBy);
  const order = column < 0 ? orders[sortBy] : (a, b) => rank(a.letters[column]) - rank(b.letters[column]);
  shown.sort((a, b) => (reversed ? -1 : 1) * order(a, b) || orders.name(a, b));
  const text = onlyMistake === null ? "" : ` with “${data.mistakes[onlyMistake][0]}”`;
  document.getElementById("count").textContent = `${shown.length} of ${students.length} students${text}`;
  grid.setAttribute("aria-rowcount", shown.length + 1);
  grid.scrollTop = 0;
  draw();
}

function showDetail(student) {
  chosen = student;
  const detail = document.getElementById("detail");
  const section = [student.section && `section ${student.section}`, student.ta && `TA ${student.ta}`];
  const about = [student.id, student.submission, ...section, statusText(student)].filter(Boolean).join(" · ");
  const parts = [make("h3", {}, make("bdi", {}, student.name)), make("p", { class: "soft" }, about)];
  const byAssignment = data.assignments.map((name, i) => student.shares[i] === null ? "" : `${name} ${student.shares[i]}%`);
  if (data.assignments.length > 1) parts.push(make("p", {}, byAssignment.filter(Boolean).join(", ")));
  const line = make("p", { class: "links" });
  const addLink = (href, text) => line.append(make("a", { href }, text), " ");
  if (student.page) addLink(student.page, "Code and results");
  if (student.link) addLink(student.link, "Feedback for this student");
  for (const [other, similarity, address] of student.pairs) {
    const text = `Similar to ${other} (${Math.round(similarity * 100)}%)`;
    if (address) addLink(address, text); else line.append(make("span", {}, text), " ");
  }
  if (line.childNodes.length) parts.push(line);
  for (const note of student.notes) parts.push(make("p", {}, note));
  const problems = make("ul");
  data.functions.forEach((name, i) => {         // in course order, with the recognized mistakes
    const letter = student.letters[i];
    if (!letter || !"fetb".includes(letter)) return;
    const titles = student.mistakes.map((number) => data.mistakes[number])
      .filter(([, functionName]) => functionName === name).map(([title]) => title);
    const what = titles.length ? titles.join("; ") : words[letter];
    problems.append(make("li", {}, `${name}: ${what}`));
  });
  const close = make("button", { type: "button" }, "Close");
  close.addEventListener("click", () => { detail.hidden = true; chosen = null; draw(); grid.focus(); });
  detail.replaceChildren(...parts, problems, close);
  detail.hidden = false;
  draw();
}

const select = document.getElementById("sort");
const option = (value, text) => make("option", { value }, text);
select.append(...Object.keys(orders).map((key) => option(key, key)));
select.append(make("optgroup", { label: "status of a function" }, ...data.functions.map((name) => option(name, name))));
select.addEventListener("change", () => { sortBy = select.value; update(); });
const groupSelect = document.getElementById("group");
if (groupSelect) {
  groupSelect.append(option("", "everybody"));
  for (const [kind, title] of [["section", "section"], ["ta", "teaching assistant"]]) {
    const values = [...new Set(students.map((s) => s[kind]))].filter(Boolean).sort(collator.compare);
    if (!values.length) continue;
    groupSelect.append(make("optgroup", { label: title }, ...values.map((value) => option(`${kind} ${value}`, value))));
  }
  groupSelect.addEventListener("change", () => {
    const [kind, ...rest] = groupSelect.value.split(" ");
    onlyGroup = kind ? [kind, rest.join(" ")] : null;
    update();
  });
}
const direction = document.getElementById("direction");
direction.addEventListener("click", () => {
  reversed = !reversed;
  direction.setAttribute("aria-pressed", reversed);
  update();
});
document.getElementById("search").addEventListener("input", () => { onlyMistake = null; update(); });
let waiting = false;
grid.addEventListener("scroll", () => {
  if (!waiting) { waiting = true; requestAnimationFrame(() => { waiting = false; draw(); }); }
}, { passive: true });
new ResizeObserver(() => { layout(); draw(); }).observe(grid);
grid.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = event.target.closest(".row");
  if (!step || !row) return;
  event.preventDefault();
  const place = Number(row.getAttribute("aria-rowindex")) - 2 + step;
  if (place < 0 || place >= shown.length) return;
  const top = place * ROW;
  if (top < grid.scrollTop) grid.scrollTop = top;
  if (top + 2 * ROW > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + 2 * ROW - grid.clientHeight;
  draw();
  space.querySelector(`[aria-rowindex="${place + 2}"] button`).focus({ preventScroll: true });
});

// A tooltip names the function and status under the pointer.
let tip = null;
grid.addEventListener("pointermove", (event) => {
  const cells = event.target.closest(".strip");
  const column = cells ? Math.floor((event.clientX - cells.getBoundingClientRect().left) / CELL) : -1;
  const student = cells ? students[cells.dataset.number] : null;
  if (!student || !student.letters[column]) { if (tip) { tip.remove(); tip = null; } return; }
  if (!tip) { tip = make("div", { id: "tip" }); document.body.append(tip); }
  tip.textContent = `${data.functions[column]}: ${words[student.letters[column]] || "no result"}`;
  tip.style.left = `${Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${event.clientY + 16}px`;
});
grid.addEventListener("pointerleave", () => { if (tip) { tip.remove(); tip = null; } });

for (const button of document.querySelectorAll("[data-mistake]")) {
  button.addEventListener("click", () => {
    document.getElementById("search").value = "";
    onlyMistake = Number(button.dataset.mistake);
    update();
    document.getElementById("students").scrollIntoView();
    grid.focus({ preventScroll: true });
  });
}
document.getElementById("all-mistakes")?.addEventListener("click", ({ target: all }) => {
  const open = all.closest("section").classList.toggle("all");
  all.setAttribute("aria-expanded", open);
  all.textContent = open ? "Show fewer" : `Show all ${data.mistakes.length}`;
});

// A click on a table heading sorts by that column.
for (const table of document.querySelectorAll("table[data-sortable]")) {
  table.querySelectorAll("thead th").forEach((heading, column) => {
    if ("plain" in heading.dataset) return;
    const button = make("button", { type: "button" }, heading.textContent);
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const number = heading.classList.contains("number");
      const before = heading.getAttribute("aria-sort");
      const down = before ? before === "ascending" : number;
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", down ? "descending" : "ascending");
      const value = (row) => row.cells[column].dataset.value || row.cells[column].textContent;
      const rows = [...table.tBodies[0].rows].sort((a, b) =>
        (down ? -1 : 1) * (number ? Number(value(a)) - Number(value(b)) : collator.compare(value(a), value(b))));
      table.tBodies[0].append(...rows);
    });
  });
}

// When printing, every row exists.
window.addEventListener("beforeprint", () => {
  document.getElementById("printed").replaceChildren(...shown.map(makeRow));
  for (const details of document.querySelectorAll("details")) { details.dataset.was = details.open; details.open = true; }
});
window.addEventListener("afterprint", () => {
  document.getElementById("printed").replaceChildren();
  for (const details of document.querySelectorAll("details")) details.open = details.dataset.was === "true";
});

document.getElementById("controls").hidden = false;
grid.hidden = false;
update();
layout();                                       // the scroll bar of the rows takes some of the width
draw();
