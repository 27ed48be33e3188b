// Bundle the third-party code and the font of the pages: `npm ci && npm run build`, or `make vendor`.
// With an argument, write to that folder instead of static/vendor.
import { copyFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const here = import.meta.dirname;
const out = process.argv[2] ?? join(here, "..", "static", "vendor");
const LICENSES = ["LICENSE", "LICENSE.txt", "LICENSE.md"];

/** The folder of a bundled package and the text of its license. */
async function license(folder) {
  const about = JSON.parse(await readFile(join(here, folder, "package.json"), "utf8"));
  for (const name of LICENSES) {
    const text = await readFile(join(here, folder, name), "utf8").catch(() => null);
    if (text !== null) return `${about.name} ${about.version}\n\n${text.trim()}\n`;
  }
  throw new Error(`${folder} has no license file`);
}

const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ["codemirror.js", "minisearch.js"],
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  metafile: true,
});
const used = Object.values(metafile.outputs).flatMap(({ inputs }) =>
  Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([path]) => path));
const packages = new Set(used.map((path) => path.match(/^node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0]).filter(Boolean));
// The font of the text, in one file: Latin letters and signs, every weight. Other signs come from the reader's fonts.
const FONT = "node_modules/@fontsource-variable/source-serif-4";
await copyFile(join(here, FONT, "files/source-serif-4-latin-wght-normal.woff2"), join(out, "source-serif-4.woff2"));
packages.add(FONT);
const texts = await Promise.all([...packages].sort().map(license));
const head = "The bundles in this folder contain the following packages.\n";
await writeFile(join(out, "LICENSES.txt"), [head, ...texts].join(`\n${"-".repeat(80)}\n\n`));
