import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { NODE_VERSION, packagePath, VERSION, type Root } from "./root.ts";

export const nameOf = (architecture: string) => `appliance-exporter-${VERSION}-linux-${architecture}`;

/** Where tarballs are unpacked, seen from the root file system. */
export const OPT = "/opt";

export async function unpackTarball({ folder }: Root, architecture: string): Promise<void> {
  const tarball = await packagePath(`-${architecture}.tar.xz`);
  execFileSync("tar", ["-xf", tarball, "-C", join(folder, OPT)]);
}

/** Paths in an unpacked tarball. */
export function filesIn({ folder }: Root, architecture: string): readonly string[] {
  const unpacked = join(folder, OPT, nameOf(architecture));
  return readdirSync(unpacked, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(unpacked, join(entry.parentPath, entry.name)));
}

/** What `--version` prints. */
export const versionOn = (
  architecture: string,
) => `appliance-exporter, version ${VERSION} (branch: main, revision: 0123abcd)
  build date:       20260301-07:53:32
  node version:     v${NODE_VERSION}
  platform:         linux/${architecture}
`;
