import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Reply } from "../reply.ts";

/** What the page loads: script, style and icon. */
export interface Assets {
  /** Where they are, relative to the page: `assets/` and a hash of them all, so that a browser may keep them. */
  readonly path: string;
  /** By path: `/assets/0123abcd/style.css`. */
  readonly replies: ReadonlyMap<string, Reply>;
}

/** From here, as source and as built alike, to the built files: a browser runs no TypeScript. */
const BUILT = new URL("../../../dist/web/status-page/", import.meta.url);
const FOLDERS = ["", "client/"];
const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Reads the files once. Rejects where the program was not built. */
export async function loadAssets(): Promise<Assets> {
  const names = (await Promise.all(FOLDERS.map(list))).flat();
  const files = await Promise.all(
    names.map(async (name) => ({ name, content: await readFile(new URL(name, BUILT)) })),
  );
  const hash = createHash("sha256");
  for (const { name, content } of files) hash.update(`${name}\0${content.length}\0`).update(content);
  const path = `assets/${hash.digest("hex").slice(0, 16)}`;
  return {
    path,
    replies: new Map(files.map(({ name, content }) => [`/${path}/${name}`, replyOf(name, content)])),
  };
}

/** The scripts beside the page are the server's own, and are nobody's to load. */
async function list(folder: string): Promise<readonly string[]> {
  const names = await readdir(new URL(folder, BUILT));
  return names
    .filter((name) => extname(name) in TYPES && (folder !== "" || extname(name) !== ".js"))
    .toSorted()
    .map((name) => folder + name);
}

function replyOf(name: string, body: Buffer): Reply {
  return {
    status: 200,
    contentType: TYPES[extname(name)] ?? "",
    body,
    // The path holds a hash of the content.
    headers: { "cache-control": "public, max-age=31536000, immutable" },
  };
}
