import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

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
const TYPES = {
  "client/main.js": "text/javascript; charset=utf-8",
  "icon.svg": "image/svg+xml",
  "style.css": "text/css; charset=utf-8",
};

/** Reads the files once. Rejects if the program was not built. */
export async function loadAssets(): Promise<Assets> {
  const read = Object.entries(TYPES).map(async ([name, contentType]) => {
    return { name, contentType, body: await readFile(new URL(name, BUILT)) };
  });
  const assets = await Promise.all(read);
  const hash = createHash("sha256");
  for (const { body } of assets) hash.update(`${body.length}\0`).update(body);
  const folder = `assets/${hash.digest("hex").slice(0, 16)}`;
  return { folder, files: new Map(assets.map(({ name, ...file }) => [`/${folder}/${name}`, file])) };
}
