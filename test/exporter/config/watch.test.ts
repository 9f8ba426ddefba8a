import { rename, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { loadConfig, type ConfigResult } from "../../../src/exporter/config/load.ts";
import { createCheck, createReloader, type ReloaderDeps } from "../../../src/exporter/config/reload.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createLog } from "../../../src/support/log.ts";
import { createAuthority } from "../../support/certificates.ts";
import { hangFile } from "../../support/hanging-file.ts";
import { createFolder, type Files } from "./folder.ts";

const AUTHORITY = await createAuthority();
const [LEAF, OTHER] = [await AUTHORITY.issue(), await AUTHORITY.issue()];

/** `config.yaml` in a folder, loaded again after checks. */
async function watch(files: Files) {
  const folder = await createFolder(files);
  const path = join(folder, "config.yaml");
  let latest: ConfigResult = await loadConfig(path);
  const loads: string[] = [];
  const onChange = async () => {
    latest = await loadConfig(path);
    loads.push(latest.ok ? "valid" : "invalid");
  };
  const check = createCheck(() => latest.sources, onChange);
  return { folder, loads, check };
}

function appliance(name: string): string {
  return `appliances: [{ name: ${name}, base_url: "https://192.0.2.1" }]\n`;
}

type Change = (folder: string) => Promise<unknown>;

const write =
  (name: string, text: string): Change =>
  (folder) =>
    writeFile(join(folder, name), text);
const remove =
  (name: string): Change =>
  (folder) =>
    unlink(join(folder, name));

const TLS = "http_client: { tls_config: { ca_file: ca.pem, cert_file: c.pem, key_file: k.pem } }\n";
const AUTH = "http_client: { basic_auth: { username: u, password_file: p } }\n";

test.each<readonly [string, Files, readonly Change[], readonly string[]]>([
  ["the same content", { "config.yaml": appliance("a") }, [write("config.yaml", appliance("a"))], []],
  ["a new content", { "config.yaml": appliance("a") }, [write("config.yaml", appliance("b"))], ["valid"]],
  [
    "new and deleted files of a pattern",
    { "config.yaml": "config_files: [d/*.yaml]\n", "d/a.yaml": appliance("a") },
    [write("d/b.yaml", appliance("b")), remove("d/b.yaml"), write("d/b.txt", "no configuration")],
    ["valid", "valid"],
  ],
  [
    "changed certificates and keys",
    {
      "config.yaml": `${TLS}${appliance("a")}`,
      "ca.pem": AUTHORITY.cert,
      "c.pem": LEAF.cert,
      "k.pem": LEAF.key,
    },
    [write("ca.pem", `${AUTHORITY.cert}\n`), write("c.pem", OTHER.cert), write("k.pem", OTHER.key)],
    ["valid", "invalid", "valid"],
  ],
  [
    "a password file, only while a load fails because of it",
    { "config.yaml": `${AUTH}${appliance("a")}` },
    [write("p", ""), write("p", "one"), write("p", "two"), remove("p")],
    ["invalid", "valid"],
  ],
])("%s: two checks after each change load what differs", async (_, files, changes, loads) => {
  const watched = await watch(files);
  for (const change of changes) {
    await change(watched.folder);
    await watched.check();
    await watched.check();
  }
  expect(watched.loads).toEqual(loads);
});

test("a file that differs at two checks is loaded when it no longer changes", async () => {
  const { folder, check, loads } = await watch({ "config.yaml": appliance("a") });
  await writeFile(join(folder, "config.yaml"), "appliances: [");
  await check();
  await writeFile(join(folder, "config.yaml"), appliance("b"));
  await check();
  expect(loads).toEqual([]);
  await check();
  expect(loads).toEqual(["valid"]);
});

/** A regular file that cannot be read: EIO. */
const UNREADABLE = "/proc/self/mem";

test.skipIf(process.platform !== "linux")(
  "a temporarily unreadable file has not changed, and a load that failed because of it is repeated",
  async () => {
    const config = "http_client: { tls_config: { ca_file: ca.pem } }\n";
    const { folder, check, loads } = await watch({ "config.yaml": config, valid: AUTHORITY.cert });
    const afterChange = async (change: Promise<unknown>) => {
      await change;
      for (let nth = 0; nth < 4; nth += 1) await check();
      return loads.splice(0);
    };
    const linkTo = async (target: string) => {
      await symlink(target, join(folder, "next"));
      await rename(join(folder, "next"), join(folder, "ca.pem"));
    };
    const writeConfig = (name: string) =>
      writeFile(join(folder, "config.yaml"), `${config}${appliance(name)}`);
    expect(await afterChange(writeConfig("a"))).toEqual(["invalid"]);
    expect(await afterChange(linkTo("valid"))).toEqual(["valid"]);
    expect(await afterChange(linkTo(UNREADABLE))).toEqual([]);
    expect(await afterChange(writeConfig("b"))).toEqual(["invalid"]);
    expect(await afterChange(linkTo("valid"))).toEqual(["valid"]);
  },
);

test("while a file hangs, no second check waits for it, and files of another load are checked", async () => {
  const folder = await createFolder({ hangs: "1", other: "1" });
  const sourceOf = (name: string) => [{ kind: "text", path: join(folder, name), state: "old" }] as const;
  let sources = sourceOf("hangs");
  const changed: string[] = [];
  const check = createCheck(
    () => sources,
    async () => void changed.push(sources[0].path),
  );
  const release = await hangFile(sources[0].path);
  const hanging = check().then(() => "released");
  expect(await Promise.race([hanging, check()])).toBeUndefined();
  sources = sourceOf("other");
  await check();
  await check();
  expect(changed).toEqual([join(folder, "other")]);
  await release();
  await hanging;
  expect(changed).toHaveLength(1);
});

/** A reloader of `config.yaml` with a valid configuration, and what it logs. */
async function createTestReloader(fields: Partial<ReloaderDeps>) {
  const path = join(await createFolder({ "config.yaml": appliance("a") }), "config.yaml");
  const loaded = await loadConfig(path);
  if (!loaded.ok) throw new Error("the configuration is invalid");
  const lines: unknown[] = [];
  const log = (...args: readonly unknown[]) => void lines.push(args.at(-1));
  const reloader = createReloader({
    load: () => loadConfig(path),
    loaded,
    web: { sources: [], prepare: async () => ({ ok: true, apply: () => {}, sources: [] }) },
    prepare: () => async () => {},
    onReloaded: () => {},
    clock: systemClock,
    logger: { ...createLog("error", "json", 2).logger, info: log, error: log },
    watchIntervalMs: 5,
    ...fields,
  });
  return { ...reloader, lines };
}

test("while a file system hangs, a reload fails after a minute, later ones at once, and one load at most waits for it", async () => {
  const hanging: (() => void)[] = [];
  const hang = <T>(value: T) => new Promise<T>((resolve) => hanging.push(() => resolve(value)));
  const prepare = () => hang({ ok: true, apply: () => {}, sources: [] } as const);
  const reloaders = [
    await createTestReloader({ load: hang }),
    await createTestReloader({ load: async (running) => running, web: { sources: [], prepare } }),
  ];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  for (const { reload } of reloaders) {
    const results = [reload()];
    await vi.advanceTimersByTimeAsync(30_000);
    results.push(reload());
    await vi.advanceTimersByTimeAsync(30_000);
    const failed = { ok: false, errors: ["the files could not be read within a minute"] };
    expect(await Promise.all([...results, reload()])).toEqual([failed, failed, failed]);
    expect(hanging).toHaveLength(1);
    hanging.pop()?.();
    await vi.advanceTimersByTimeAsync(0);
    const result = reload();
    await vi.advanceTimersByTimeAsync(1);
    expect(hanging).toHaveLength(1);
    hanging.pop()?.();
    expect(await result).toEqual({ ok: true });
  }
});

function fails(): never {
  throw new Error("a bug");
}

test.each<readonly [string, Partial<ReloaderDeps>, string]>([
  ["before the new configuration runs", { prepare: fails }, "the old configuration stays"],
  ["after that", { prepare: () => fails }, "the new configuration runs in part"],
])("after an error %s, the log says which configuration runs", async (_, fields, outcome) => {
  const { reload, lines } = await createTestReloader(fields);
  expect(await reload()).toMatchObject({ ok: false, errors: [expect.stringContaining("a bug")] });
  expect(lines).toEqual(["configuration could not be applied", `reload failed, ${outcome}`]);
});

test("the files are checked from the first watch to the stop; a watch after the stop checks nothing", async () => {
  const { watch: startWatch, stop } = await createTestReloader({});
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const timers = [startWatch, stop, startWatch].map((call) => {
    call();
    return vi.getTimerCount();
  });
  expect(timers).toEqual([1, 0, 0]);
});
