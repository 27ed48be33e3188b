// In the place of pyodide_worker.js: the same messages, but Python runs beside the browser. See support/stand_in_python.py.
const name = crypto.randomUUID(); // Each worker has a Python of its own.
const latin1 = (bytes) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
const bytes = (text) => Uint8Array.from(text, (character) => character.charCodeAt(0));

onmessage = async ({ data: { id, action, payload, files = new Map() } }) => {
  const sent = [...files].map(([path, content]) => [path, latin1(content)]);
  const body = JSON.stringify({ id, action, payload: action === "start" ? {} : payload, files: sent });
  const { body: answer } = await fetch(`/python/${name}`, { method: "POST", body });
  let text = "";
  for await (const part of answer.pipeThrough(new TextDecoderStream())) {
    const lines = (text + part).split("\n");
    text = lines.pop();
    for (const message of lines.map((line) => JSON.parse(line))) {
      if (message.changed) message.changed = new Map(message.changed.map(([path, content]) => [path, bytes(content)]));
      postMessage(message);
    }
  }
};
