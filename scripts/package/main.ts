// The program writes the packages into out/: for npm, and for each architecture (those that its arguments name, or else all) a tarball with
// Node.js and a Debian package, with their checksums. Two runs with the same SOURCE_DATE_EPOCH, by default the date of the commit, write the same bytes.
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildVersion, sourceDateEpoch } from "../build-info.ts";
import { normalize, writeTar, XZ_LEVEL } from "./commands.ts";
import { addNode, type Architecture, ARCHITECTURES, unpackProgram } from "./content.ts";
import { type Target, writeDeb } from "./deb.ts";

const OUT = "out";

const step = (text: string): void => void process.stderr.write(`${text}\n`);

function writePackages(work: string, epoch: string, architectures: readonly Architecture[]): void {
  const version = buildVersion();
  step("building the program");
  const program = join(work, "package");
  unpackProgram(program, work, version);
  normalize(program, epoch);
  writeTar(program, join(OUT, `appliance-exporter-${version}.tgz`), "gzip -9n");

  for (const architecture of architectures)
    writePackagesWithNode(program, {
      version,
      architecture,
      work: join(work, architecture),
      out: OUT,
      epoch,
    });
}

function writePackagesWithNode(program: string, target: Target): void {
  const { version, architecture, work, out, epoch } = target;
  mkdirSync(work);
  step(`downloading Node.js for ${architecture}`);
  const name = `appliance-exporter-${version}-linux-${architecture}`;
  const folder = join(work, name);
  cpSync(program, folder, { recursive: true });
  addNode(folder, architecture, work);
  copyFileSync("packaging/appliance-exporter.sh", join(folder, "appliance-exporter"));
  normalize(folder, epoch);

  step(`writing the tarball for ${architecture}`);
  writeTar(folder, join(out, `${name}.tar.xz`), `xz -${XZ_LEVEL} --threads=2`);
  step(`writing the Debian package for ${architecture}`);
  writeDeb(folder, target);
  rmSync(work, { recursive: true });
}

/** Returns checksums in the format of sha256sum. */
function checksums(): string {
  const lines = readdirSync(OUT)
    .toSorted()
    .map((name) => {
      const sum = createHash("sha256")
        .update(readFileSync(join(OUT, name)))
        .digest("hex");
      return `${sum}  ${name}\n`;
    });
  return lines.join("");
}

const named = process.argv.slice(2);
const epoch = sourceDateEpoch();
if (epoch === undefined) throw new Error("set SOURCE_DATE_EPOCH: there is no commit with a date");
// The bundler and dpkg-deb read this variable.
process.env["SOURCE_DATE_EPOCH"] = epoch;
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT);
const work = mkdtempSync(join(tmpdir(), "appliance-exporter-"));
try {
  writePackages(
    work,
    epoch,
    ARCHITECTURES.filter((each) => named.length === 0 || named.includes(each)),
  );
} finally {
  rmSync(work, { recursive: true });
}
const sums = checksums();
writeFileSync(join(OUT, "SHA256SUMS"), sums);
step(`written to ${OUT}:\n${sums.trimEnd()}`);
