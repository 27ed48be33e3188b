// A back end for tests, in the place of backend_server.js. `window.fake` controls it; its files survive a reload.
import { BackendError } from "./backend_error.js";

const KEY = "fake-files";
const MISTAKE = { label: "likely cause", title: "the rows were not divided", reason: "proof", explanation: "why", hint: "by what?" };
const { cells, reports, plot } = JSON.parse(document.getElementById("fake-data").textContent);
let listener = () => {};
let finish = null; // ends the check that is held

const fake = (window.fake = {
  cells: JSON.parse(sessionStorage.getItem(KEY) ?? "null") ?? structuredClone(cells),
  statuses: Object.fromEntries(Object.keys(cells).map((name) => [name, "not_started"])),
  shown: {},
  log: [],
  holds: false, // whether checks wait for `release`
  holdsDiagnosis: false, // the same for checks that look for the mistake
  failure: "", // why saves fail
  lost: false,
  plots: [{ name: "softmax-temperatures", title: plot.title, functions: ["softmax.softmax"] }],
  badges: [],
  release: () => finish?.(),
  emit: (event) => listener(event),
  lose(message) {
    fake.lost = true;
    listener({ event: "stopped", message });
  },
  async changeOutside(name, text) {
    write(name, text);
    const changed = Object.fromEntries(await Promise.all(Object.keys(fake.cells).map(async (key) => [key, await cell(key)])));
    listener({ event: "changed", module: "softmax", cells: changed, notes: [], statuses: fake.statuses });
  },
});

async function digest(text) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("").slice(0, 16);
}

const cell = async (name) => ({ shared_with: [], ...fake.cells[name], digest: await digest(fake.cells[name].text) });

function write(name, text) {
  fake.cells[name] ??= structuredClone(cells[name]);
  for (const key of [name, ...(fake.cells[name].shared_with ?? [])]) fake.cells[key].text = text;
  sessionStorage.setItem(KEY, JSON.stringify(fake.cells));
}

function points() {
  const passed = Object.values(fake.statuses).filter((status) => status === "passed").length;
  return { earned: passed * 2, possible: Object.keys(cells).length * 2 };
}

function report(name, status, diagnose) {
  if (status === "passed") return reports.passed;
  const line = fake.cells[name].line + fake.cells[name].text.split("\n").findIndex((text) => /wrong|while|return/.test(text));
  const cards = reports.failed.cards.map((card) => ({ ...card, location: { file: "softmax.py", line, text: "the line" } }));
  if (diagnose) cards[0].mistake = MISTAKE;
  return { ...reports.failed, cards };
}

async function check({ function: name, diagnose = true }) {
  const { text } = fake.cells[name];
  if ((diagnose && fake.holdsDiagnosis) || fake.holds || text.includes("while True")) {
    listener({ event: "countdown", seconds: 10 });
    const error = await new Promise((resolve) => (finish = resolve));
    finish = null;
    if (error) throw error;
  }
  const status = text.includes("while True") ? "timeout" : text.includes("return") && !text.includes("wrong") ? "passed" : "failed";
  fake.statuses[name] = status;
  const next = Object.keys(cells).find((key) => fake.statuses[key] !== "passed");
  return {
    report: report(name, status, diagnose),
    undiagnosed: status === "failed" && !diagnose,
    statuses: { ...fake.statuses },
    points: points(),
    badges: status === "passed" ? fake.badges : [],
    next: next ? { function: next, module: "softmax", title: "Softmax" } : null,
  };
}

const actions = {
  async open({ module }) {
    const all = Object.fromEntries(await Promise.all(Object.keys(fake.cells).map(async (name) => [name, await cell(name)])));
    const notebook = fake.cells["softmax.softmax"].text.startsWith("# notebooks/softmax.ipynb");
    return { workspace: "my-gpt", module, cells: all, statuses: { ...fake.statuses }, points: points(), hints: {},
      features: ["plots", "archive"], notebook, notes: notebook ? ["notebooks/softmax.ipynb counts."] : [] };
  },
  async save({ function: name, text, digest: expected }) {
    if (fake.holdsSave) await new Promise((resolve) => (finish = resolve));
    if (fake.failure) throw new BackendError(fake.failure);
    const now = await cell(name);
    if (now.digest !== expected) return { conflict: { text: now.text, digest: now.digest } };
    write(name, text);
    return { digest: await digest(text), line: now.line };
  },
  check,
  async cancel() {
    finish?.(new BackendError("stopped"));
    return {};
  },
  async hint({ function: name, more }) {
    fake.shown[name] = Math.min(3, Math.max(fake.shown[name] ?? 0, 1) + (fake.shown[name] ? more : 0));
    const steps = [
      "Which number of a row is the largest one?",
      "Subtract it before `np.exp`.",
      "`np.exp` of a difference, over its sum.",
    ];
    return { steps: steps.slice(0, fake.shown[name]), total: 3 };
  },
  async reset({ function: name }) {
    write(name, cells[name].text);
    return { text: cells[name].text, digest: await digest(cells[name].text), backup: "backups/softmax-1.py" };
  },
  copy: async () => write("softmax.softmax", "def softmax(x):\n    return x"),
  async solution({ function: name, give_up }) {
    if (fake.statuses[name] !== "passed" && !give_up) {
      return { question: `${name} does not pass yet. Show its solution now?` };
    }
    return { text: cells[name].text.replace(/ {4}raise.*/, "    x = as_float(x)\n    return x / x.sum(axis, keepdims=True)") };
  },
  plots: async () => ({ plots: fake.plots }),
  draw: async () => ({ plot: plot }),
  export: async () => ({ name: "my-gpt.zip", base64: btoa("PK") }),
  import: async ({ base64 }) => ({ notes: [`imported ${atob(base64).length} bytes`] }),
};

export async function connect() {
  fake.lost = false;
  return {
    name: "fake",
    canInterrupt: true,
    listen: (callback) => (listener = callback),
    async request(action, payload) {
      if (fake.lost) throw new BackendError("The connection to headway serve is lost.", { lost: true });
      fake.log.push([action, payload]);
      return actions[action](payload);
    },
  };
}
