// Run pyodide_worker.js with npm's Pyodide, which has no NumPy: node pyodide_without_numpy.mjs NODE_MODULES ARCHIVE
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

import { PythonSide, serve } from "../../../../autograder/web/site/static/pyodide_worker.js";

const [modules, archive] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${modules}/pyodide/pyodide.mjs`).href);
const headway = new Uint8Array(readFileSync(archive)).buffer;
const found = {};

// The worker's messages: without NumPy, the start ends with an error of Python, which the page shows.
const messages = [];
const scope = { postMessage: (message) => messages.push(message), onmessage: null };
const pyodide = await loadPyodide();
serve(scope, async () => pyodide);
await scope.onmessage({ data: { id: 1, action: "start", payload: { core: {}, wheels: [], archives: [headway] } } });
found.messages = messages.map(({ event, name, id, crash }) => (event ? `${event} ${name}` : `${id} ${crash.trim()}`));

// What needs no NumPy.
const side = new PythonSide(pyodide, () => {});
side.addAnswers({ softmax: new Uint8Array([1, 2, 3]).buffer });
side.writeFiles(new Map([["backups/softmax-1.py", new Uint8Array([120])], ["ffn.py", new Uint8Array([121])]]));
side.writeFiles(new Map([["ffn.py", null], ["never.py", null]]));
found.python = JSON.parse(pyodide.runPython(`
import contextlib, json, sys
from pathlib import Path
import pytest
from autograder.course import registry
from autograder.web.browser.call_watch import CallStopped, watch
from autograder.workspace import files, hints, state, solutions
def late():
    raise TimeoutError
folder = Path("/home/pyodide/my-gpt")
course = registry.default()
with watch([str(folder)], late) as where, contextlib.suppress(CallStopped):
    exec(compile("while True:\\n pass", f"{folder}/loop.py", "exec"))
lines = files.update(folder, state.load(folder))
json.dumps({
    "stopped": "".join(where),
    "restored": len(lines),
    "stub": "NotImplementedError" in (folder / "softmax.py").read_text(),
    "hints": len(hints.steps("softmax.softmax", course.package)),
    "solution": "np.exp" in solutions.solution_of("softmax.softmax", course),
    "answers": [path.parent.name for path in registry.folder(course.package).glob("*/answers.memo")],
    "files": sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py") if "softmax" in path.name),
    "has thread_time": hasattr(__import__("time"), "thread_time"),
    "int": sys.maxsize,
})
`));
console.log(JSON.stringify(found));
