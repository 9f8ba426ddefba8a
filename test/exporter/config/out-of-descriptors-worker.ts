import { formatConfigError } from "../../../src/exporter/config/errors.ts";
import { loadConfig, type ConfigResult } from "../../../src/exporter/config/load.ts";
import { createCheck } from "../../../src/exporter/config/reload.ts";
import { createLookup } from "../../../src/exporter/client/lookup.ts";
import { createPasswordReader } from "../../../src/exporter/client/credentials.ts";
import { errorCode } from "../../../src/support/errors.ts";
import { withoutDescriptors } from "../../support/descriptors.ts";

// Runs with few descriptors in a folder with a configuration: prints what happens while none is left and
// what happens when some are free again.

async function lookUp() {
  const lookup = createLookup(2);
  const run = () => lookup("localhost", () => true).then(() => "found", errorCode);
  return { without: await withoutDescriptors(run), after: await run() };
}

async function readPassword() {
  // A clock by which the file is read each time.
  let nowMs = 0;
  const read = createPasswordReader(2, { monotonicMs: () => (nowMs += 1000) });
  const run = async (): Promise<unknown> => {
    const result = await read({ kind: "file", path: "password" });
    return result.ok ? result.secret.reveal() : result;
  };
  return { without: await withoutDescriptors(run), after: await run() };
}

/** Loads `config.yaml` and reloads it after checks; returns the loads since the last call. */
async function watch() {
  const loads: string[] = [];
  let latest: ConfigResult = await loadConfig("config.yaml");
  const reload = async () => {
    latest = await loadConfig("config.yaml");
    loads.push(latest.ok ? "loaded" : latest.errors.map(formatConfigError).join("\n"));
  };
  const check = createCheck(() => latest.sources, reload);
  const checkThrice = async () => {
    for (let nth = 0; nth < 3; nth += 1) await check();
    return loads.splice(0);
  };
  return { reload, checkThrice };
}

async function watchWhatStays() {
  const { checkThrice } = await watch();
  return { without: await withoutDescriptors(checkThrice), after: await checkThrice() };
}

async function reloadOnce() {
  const watched = await watch();
  const without = await withoutDescriptors(async () => {
    await watched.reload();
    return watched.checkThrice();
  });
  return { without, after: await watched.checkThrice() };
}

process.stdout.write(
  JSON.stringify({
    // First, before the C library opens files of its own.
    lookup: await lookUp(),
    password: await readPassword(),
    watch: await watchWhatStays(),
    reload: await reloadOnce(),
  }),
);
