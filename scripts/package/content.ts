import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "./commands.ts";
import { addToSbom } from "./sbom.ts";

/** The architectures that have packages, by their names in Node.js. */
export const ARCHITECTURES = ["x64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/** The Node.js in the packages. */
interface PinnedNode {
  readonly version: string;
  /** The digests of the npm packages of Node.js. */
  readonly integrity: Readonly<Record<Architecture, string>>;
}

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

/** Builds the program and unpacks the files of its npm package into `folder`, whose package.json gets the version of the build. */
export function unpackProgram(folder: string, work: string, version: string): void {
  const { filename } = npmPack(work);
  mkdirSync(folder);
  run("tar", "-xzf", join(work, filename), "-C", folder, "--strip-components=1");
  const manifest = join(folder, "package.json");
  const content: object = JSON.parse(readFileSync(manifest, "utf8"));
  writeFileSync(manifest, `${JSON.stringify({ ...content, version }, null, 2)}\n`);
}

/** Downloads the pinned Node.js into the folder `node` of a program. Throws if the package is not the one in packaging/node.json. */
export function addNode(program: string, architecture: Architecture, work: string): void {
  const { version, integrity }: PinnedNode = JSON.parse(readFileSync("packaging/node.json", "utf8"));
  const name = `node-linux-${architecture}`;
  const packed = npmPack(work, `${name}@${version}`);
  if (packed.integrity !== integrity[architecture])
    throw new Error(`${name} ${version} is not what packaging/node.json pins`);
  const folder = join(program, "node");
  mkdirSync(folder);
  const files = ["--transform=s,.*/,,", "package/LICENSE", "package/bin/node"];
  run("tar", "-xzf", join(work, packed.filename), "-C", folder, ...files);
  addToSbom(join(program, "dist/sbom.cdx.json"), {
    "bom-ref": `${name}@${version}`,
    type: "platform",
    name: "node",
    version,
    scope: "required",
    description: "Node.js; node/LICENSE also has the licences of the libraries in it",
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
    purl: `pkg:npm/${name}@${version}`,
    hashes: [{ alg: "SHA-512", content: hexOf(packed.integrity) }],
    licenses: [{ license: { id: "MIT" } }],
  });
}

function hexOf(integrity: string): string {
  return Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
}
