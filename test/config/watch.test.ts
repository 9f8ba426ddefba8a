import { mkdir, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import type { ConfigResult } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import { afterCheck, createCheck, NOTHING_FOUND, startWatch } from "../../src/config/watch.ts";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { createFolder, type Files } from "./folder.ts";

const AUTHORITY = await createAuthority();

interface Watched {
  readonly folder: string;
  /** Each load since the first: the changed files and whether it was valid. */
  readonly loads: { readonly files: readonly string[]; readonly isValid: boolean }[];
  check(): Promise<void>;
  write(name: string, text: string): Promise<void>;
}

/** Loads `config.yaml` of a folder and reloads it after checks. */
async function watch(folder: string, file = "config.yaml"): Promise<Watched> {
  const path = join(folder, file);
  let latest: ConfigResult = await loadConfig(path);
  const loads: Watched["loads"] = [];
  const check = createCheck({
    sources: () => latest.sources,
    onChange: async (files) => {
      latest = await loadConfig(path);
      const names = files.map(({ path: each }) => each.replace(`${folder}/`, ""));
      loads.push({ files: names.toSorted(), isValid: latest.ok });
    },
  });
  return {
    folder,
    loads,
    check,
    write: (name, text) => writeFile(join(folder, name), text),
  };
}

async function watchFiles(files: Files): Promise<Watched> {
  return watch(await createFolder(files));
}

async function checkTwice({ check }: Watched): Promise<void> {
  await check();
  await check();
}

function appliance(name: string): string {
  return `appliances: [{ name: ${name}, base_url: "https://192.0.2.1" }]\n`;
}

test("an unchanged file is loaded once", async () => {
  const watched = await watchFiles({ "config.yaml": appliance("a") });
  await checkTwice(watched);
  await watched.check();
  await watched.write("config.yaml", appliance("a"));
  await checkTwice(watched);
  expect(watched.loads).toEqual([]);
});

test("a new content is loaded at the second check that finds it, once", async () => {
  const watched = await watchFiles({ "config.yaml": appliance("a") });
  await watched.write("config.yaml", appliance("b"));
  await watched.check();
  expect(watched.loads).toEqual([]);
  await watched.check();
  expect(watched.loads).toEqual([{ files: ["config.yaml"], isValid: true }]);
  await checkTwice(watched);
  expect(watched.loads).toHaveLength(1);
});

test("a file that is half-written at a check is loaded when it is complete", async () => {
  const watched = await watchFiles({ "config.yaml": appliance("a") });
  await watched.write("config.yaml", "appliances: [");
  await watched.check();
  await watched.write("config.yaml", appliance("b"));
  await checkTwice(watched);
  expect(watched.loads).toEqual([{ files: ["config.yaml"], isValid: true }]);
});

test("an invalid content is tried once, and a valid one after it is loaded", async () => {
  const watched = await watchFiles({ "config.yaml": appliance("a") });
  await watched.write("config.yaml", "appliances: [");
  for (let nth = 0; nth < 10; nth += 1) await watched.check();
  expect(watched.loads).toEqual([{ files: ["config.yaml"], isValid: false }]);
  await watched.write("config.yaml", appliance("b"));
  await checkTwice(watched);
  expect(watched.loads.map(({ isValid }) => isValid)).toEqual([false, true]);
});

test("renaming, deleting and restoring a file is noticed each time", async () => {
  const watched = await watchFiles({ "config.yaml": appliance("a"), next: appliance("b") });
  await rename(join(watched.folder, "next"), join(watched.folder, "config.yaml"));
  await checkTwice(watched);
  await rm(join(watched.folder, "config.yaml"));
  await checkTwice(watched);
  await watched.write("config.yaml", appliance("b"));
  await checkTwice(watched);
  expect(watched.loads.map(({ isValid }) => isValid)).toEqual([true, false, true]);
});

test("each of many symlink swaps by Kubernetes is noticed", async () => {
  const folder = await createFolder({});
  const swapTo = async (version: string): Promise<void> => {
    await mkdir(join(folder, `..${version}`, "clusters.d"), { recursive: true });
    await writeFile(join(folder, `..${version}`, "config.yaml"), "config_files: [clusters.d/*.yaml]\n");
    await writeFile(join(folder, `..${version}`, "clusters.d", "a.yaml"), appliance(version));
    await symlink(`..${version}`, join(folder, "..data_tmp"));
    await rename(join(folder, "..data_tmp"), join(folder, "..data"));
  };
  await swapTo("v0");
  await symlink("..data/config.yaml", join(folder, "config.yaml"));
  await symlink("..data/clusters.d", join(folder, "clusters.d"));
  const watched = await watch(folder);
  for (const version of ["v1", "v2", "v3", "v4"]) {
    await swapTo(version);
    await checkTwice(watched);
  }
  expect(watched.loads).toEqual(
    Array.from({ length: 4 }, () => ({ files: ["clusters.d/a.yaml"], isValid: true })),
  );
});

test("new and deleted files of a pattern are noticed", async () => {
  const watched = await watchFiles({
    "config.yaml": "config_files: [d/*.yaml]\n",
    "d/a.yaml": appliance("a"),
  });
  await watched.write("d/b.yaml", appliance("b"));
  await checkTwice(watched);
  await unlink(join(watched.folder, "d/b.yaml"));
  await checkTwice(watched);
  await watched.write("d/b.txt", "nothing of ours");
  await checkTwice(watched);
  expect(watched.loads).toEqual([
    { files: ["d/*.yaml"], isValid: true },
    { files: ["d/*.yaml", "d/b.yaml"], isValid: true },
  ]);
});

test("changed certificates and keys are noticed", async () => {
  const [old, next] = [await AUTHORITY.issue(), await AUTHORITY.issue()];
  const tls = "http_client: { tls_config: { ca_file: ca.pem, cert_file: c.pem, key_file: k.pem } }\n";
  const watched = await watchFiles({
    "config.yaml": `${tls}${appliance("a")}`,
    "ca.pem": AUTHORITY.cert,
    "c.pem": old.cert,
    "k.pem": old.key,
  });
  await watched.write("ca.pem", `${AUTHORITY.cert}\n`);
  await checkTwice(watched);
  await watched.write("c.pem", next.cert);
  await checkTwice(watched);
  await watched.write("k.pem", next.key);
  await checkTwice(watched);
  expect(watched.loads).toEqual([
    { files: ["ca.pem"], isValid: true },
    { files: ["c.pem"], isValid: false },
    { files: ["k.pem"], isValid: true },
  ]);
});

test("a password file is watched only while a load fails because of it", async () => {
  const auth = "http_client: { basic_auth: { username: u, password_file: p } }\n";
  const watched = await watchFiles({ "config.yaml": `${auth}${appliance("a")}` });
  await watched.write("p", "");
  await checkTwice(watched);
  await watched.write("p", "one");
  await checkTwice(watched);
  await watched.write("p", "two");
  await checkTwice(watched);
  await unlink(join(watched.folder, "p"));
  await checkTwice(watched);
  expect(watched.loads).toEqual([
    { files: ["p"], isValid: false },
    { files: ["p"], isValid: true },
  ]);
});

/** A regular file that cannot be read: EIO. */
const UNREADABLE = "/proc/self/mem";

test.skipIf(process.platform !== "linux")(
  "a temporarily unreadable file has not changed, and a load that failed because of it is repeated",
  async () => {
    const tls = "http_client: { tls_config: { ca_file: ca.pem } }\n";
    const watched = await watchFiles({ "config.yaml": `${tls}${appliance("a")}`, good: AUTHORITY.cert });
    const linkTo = async (target: string) => {
      await symlink(target, join(watched.folder, "next"));
      await rename(join(watched.folder, "next"), join(watched.folder, "ca.pem"));
    };
    await linkTo("good");
    await checkTwice(watched);
    expect(watched.loads.splice(0)).toEqual([{ files: ["ca.pem"], isValid: true }]);

    await linkTo(UNREADABLE);
    await checkTwice(watched);
    expect(watched.loads).toEqual([]);
    await watched.write("config.yaml", `${tls}${appliance("b")}`);
    await checkTwice(watched);
    await checkTwice(watched);
    expect(watched.loads.splice(0)).toEqual([{ files: ["config.yaml"], isValid: false }]);

    await linkTo("good");
    await checkTwice(watched);
    expect(watched.loads).toEqual([{ files: ["ca.pem"], isValid: true }]);
  },
);

test("the watch checks regularly until it is stopped", async () => {
  const folder = await createFolder({ "config.yaml": appliance("a") });
  const path = join(folder, "config.yaml");
  let latest = await loadConfig(path);
  let changes = 0;
  const stop = startWatch(
    {
      sources: () => latest.sources,
      onChange: async () => {
        changes += 1;
        latest = await loadConfig(path);
      },
    },
    5,
  );
  onTestFinished(stop);
  for (const [nth, name] of ["b", "c", "d"].entries()) {
    await writeFile(path, appliance(name));
    await eventually(() => expect(changes).toBe(nth + 1), { everyMs: 5 });
  }
});

test("a change is loaded at the fourth check at the latest, and nothing is loaded without a difference", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("", "a", "b"), { minLength: 1 }), (differences) => {
      let finding = NOTHING_FOUND;
      let waiting = 0;
      for (const difference of differences) {
        const after = afterCheck(finding, difference);
        finding = after.finding;
        waiting = difference === "" || after.isDue ? 0 : waiting + 1;
        expect(waiting).toBeLessThan(4);
        expect(after.isDue && difference === "").toBe(false);
      }
    }),
  );
});
