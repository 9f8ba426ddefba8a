import { copyFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig, type Plugin } from "rolldown";
import { buildInfo } from "./scripts/build-info.ts";
import { runbookHtml } from "./scripts/runbook.ts";

/** Of the packages in the bundles that are written. */
const folders = new Set<string>();

/** Writes the licences of all packages in this bundle and those before it. */
const licences: Plugin = {
  name: "licences",
  writeBundle(_, bundle) {
    const chunks = Object.values(bundle).filter((output) => output.type === "chunk");
    for (const folder of chunks.flatMap(({ moduleIds }) => moduleIds.flatMap(packageFolder)))
      folders.add(folder);
    writeFileSync("dist/LICENCES.txt", [...folders].toSorted().map(licenceOf).join("\n"));
  },
};

function packageFolder(moduleId: string): readonly string[] {
  const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(moduleId) ?? [];
  return folder === undefined ? [] : [folder];
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? "" : readFileSync(join(folder, file), "utf8");
  return `${name} ${version}: ${license}\n\n${text.trim()}\n`;
}

/** Writes the files of the page that are served as they are, and docs/runbook.md as HTML. */
const page: Plugin = {
  name: "page",
  writeBundle() {
    for (const file of readdirSync("src/exporter/page").filter((each) => /\.(?:css|svg)$/.test(each)))
      copyFileSync(`src/exporter/page/${file}`, `dist/page/${file}`);
    writeFileSync("dist/page/runbook.html", runbookHtml(readFileSync("docs/runbook.md", "utf8")));
  },
};

/** Every command is a chunk of its own and is loaded when it is called. */
export default defineConfig([
  {
    input: {
      main: "src/main.ts",
      "config-worker": "src/exporter/config/worker.ts",
      "password-worker": "src/exporter/web/password-worker.ts",
    },
    platform: "node",
    transform: { define: { BUILD: JSON.stringify(buildInfo()) } },
    plugins: [licences],
    output: {
      dir: "dist",
      cleanDir: true,
      minify: { mangle: false, compress: true, codegen: true },
      chunkFileNames: "chunks/[name].js",
    },
  },
  {
    input: "src/exporter/page/client/main.ts",
    platform: "browser",
    plugins: [licences, page],
    output: { file: resolve("dist/page/client/main.js"), minify: true },
  },
]);
