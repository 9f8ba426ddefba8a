import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";

export interface Asset {
  readonly contentType: string;
  readonly body: Buffer;
}

/** The script, the style sheet and the icon of the page. */
export interface Assets {
  /** Their folder, relative to the page: `assets/` and a hash of all of them, so that browsers may cache them. */
  readonly folder: string;
  /** By path: `/assets/0123abcd/style.css`. */
  readonly files: ReadonlyMap<string, Asset>;
}

/** The built files, seen from the source and from the built program alike: browsers do not run TypeScript. */
const BUILT = new URL("../../dist/page/", import.meta.url);
const NAMES = ["client/main.js", "icon.svg", "style.css"];
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Reads the files once. Rejects if the program was not built. */
export async function loadAssets(): Promise<Assets> {
  const bodies = await Promise.all(NAMES.map((name) => readFile(new URL(name, BUILT))));
  const hash = createHash("sha256");
  for (const body of bodies) hash.update(`${body.length}\0`).update(body);
  const folder = `assets/${hash.digest("hex").slice(0, 16)}`;
  const files = NAMES.map((name, index): [string, Asset] => [
    `/${folder}/${name}`,
    { contentType: TYPES[extname(name)] ?? "", body: bodies[index] ?? Buffer.alloc(0) },
  ]);
  return { folder, files: new Map(files) };
}
