import { createHash } from "node:crypto";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { normalize, run, XZ_LEVEL } from "./commands.ts";
import type { Architecture } from "./content.ts";

/** The packages that are written for an architecture. */
export interface Target {
  readonly version: string;
  readonly architecture: Architecture;
  readonly work: string;
  readonly out: string;
  /** The Unix time of all files, in seconds. */
  readonly epoch: string;
}

/** The files that the command needs; everything else is documentation. */
const PROGRAM = new Set(["appliance-exporter", "bin", "dist", "node", "package.json"]);
const DOC = "usr/share/doc/appliance-exporter";
const MAN_PAGE = "usr/share/man/man1/appliance-exporter.1";
/** The path of the completion for each shell. */
const COMPLETIONS = {
  bash: "usr/share/bash-completion/completions/appliance-exporter",
  zsh: "usr/share/zsh/vendor-completions/_appliance-exporter",
};
const DEBIAN_ARCHITECTURES: Readonly<Record<Architecture, string>> = { x64: "amd64", arm64: "arm64" };

/** Writes the Debian package. `packaging/debian/root` has the files of this package alone. */
export function writeDeb(content: string, { version, architecture, work, out, epoch }: Target): void {
  const root = join(work, "deb");
  const at = (path: string): string => join(root, path);
  // A prerelease sorts before its release.
  const debVersion = version.replace("-", "~");
  const debArchitecture = DEBIAN_ARCHITECTURES[architecture];
  cpSync("packaging/debian/root", root, { recursive: true });
  for (const name of readdirSync(content)) {
    const folder = PROGRAM.has(name) ? "usr/lib/appliance-exporter" : DOC;
    cpSync(join(content, name), at(join(folder, name)), { recursive: true });
  }
  mkdirSync(at("usr/bin"));
  symlinkSync("../lib/appliance-exporter/appliance-exporter", at("usr/bin/appliance-exporter"));
  for (const [shell, path] of Object.entries(COMPLETIONS)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    const program = join(content, "bin/appliance-exporter.cjs");
    writeFileSync(at(path), run(process.execPath, program, "completion", shell));
  }
  cpSync("packaging/systemd/appliance-exporter.service", at("lib/systemd/system/appliance-exporter.service"));

  const control = readFileSync(at("DEBIAN/control"), "utf8")
    .replace("VERSION", debVersion)
    .replace("ARCHITECTURE", debArchitecture);
  writeCompressed(at(MAN_PAGE), readFileSync(at(MAN_PAGE), "utf8").replace("VERSION", version));
  rmSync(at(MAN_PAGE));
  writeCompressed(at(`${DOC}/changelog`), changelog(debVersion, control, epoch));
  writeFileSync(at("DEBIAN/control"), control.replace("KIBIBYTES", kibibytesOf(root)));
  writeFileSync(at("DEBIAN/md5sums"), md5sums(root));
  normalize(root, epoch);
  const path = join(out, `appliance-exporter_${debVersion}_${debArchitecture}.deb`);
  run("dpkg-deb", "--root-owner-group", "-Zxz", `-z${XZ_LEVEL}`, "--build", root, path);
}

function writeCompressed(path: string, text: string): void {
  writeFileSync(`${path}.gz`, gzipSync(text, { level: 9 }));
}

/** Returns a changelog in Debian's form, which has the date. The changes are in the project's own changelog. */
function changelog(debVersion: string, control: string, epoch: string): string {
  const [, maintainer = ""] = /^Maintainer: (.*)$/m.exec(control) ?? [];
  const date = new Date(Number(epoch) * 1000).toUTCString().replace("GMT", "+0000");
  return `appliance-exporter (${debVersion}) stable; urgency=medium

  * See /${DOC}/CHANGELOG.md.

 -- ${maintainer}  ${date}
`;
}

/** Returns the installed files in a fixed order, relative to the root. */
function installedFiles(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith("DEBIAN/"))
    .toSorted();
}

/** Returns the size as dpkg-gencontrol counts it: each file in whole units. */
function kibibytesOf(root: string): string {
  const sizes = installedFiles(root).map((path) => Math.ceil(statSync(join(root, path)).size / 1024));
  return String(sizes.reduce((sum, size) => sum + size, 0));
}

function md5sums(root: string): string {
  const sums = installedFiles(root).map((path) => {
    const sum = createHash("md5")
      .update(readFileSync(join(root, path)))
      .digest("hex");
    return `${sum}  ${path}\n`;
  });
  return sums.join("");
}
