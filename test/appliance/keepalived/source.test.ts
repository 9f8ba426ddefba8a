import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { KeepalivedOptions } from "../../../src/appliance/keepalived.ts";
import type { VrrpSource } from "../../../src/appliance/server.ts";
import { eventually } from "../../support/eventually.ts";
import { dumpOf, SIGJSON, startFake } from "./fake.ts";
import { createMemoryLog } from "../../support/exporter.ts";
import { kill, optionsIn, sourceOf, temporaryFolder } from "./support.ts";

/** For what is there already, or never comes. */
const SOON = { timeoutMs: 100 };

/**
 * The states of a keepalived with its files in a folder, and the signals sent; reasons are without the folder.
 * `beforeDeadline` runs after each signal, before the time for the answer begins.
 */
async function describeState(
  folder: string,
  fields: Partial<KeepalivedOptions> = {},
  beforeDeadline = () => {},
) {
  const signals: number[] = [];
  const source = sourceOf(optionsIn(folder, fields), (pid, signal) => {
    signals.push(signal);
    process.kill(pid, signal);
    beforeDeadline();
  });
  const state = await source();
  return state.ok
    ? { signals, states: state.interfaces.map((each) => each.state) }
    : { signals, reason: state.reason.replaceAll(`${folder}/`, "") };
}

/** Blocks until the file is there. */
function waitForFile(path: string): void {
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  while (!existsSync(path)) Atomics.wait(nobody, 0, 0, 5);
}

test("the state is what keepalived writes on request", async () => {
  const { folder } = await startFake("cp master keepalived.json");
  expect(await describeState(folder)).toEqual({ signals: [SIGJSON], states: ["MASTER"] });
});

test("the state is read when the dump is complete", async () => {
  const { folder } = await startFake(
    "cp half.1 keepalived.json; until [ -e go ]; do read -rt 0.01; done; cat half.2 >> keepalived.json",
  );
  const described = describeState(folder);
  await eventually(() => {
    if (!existsSync(join(folder, "keepalived.json"))) throw new Error("no half yet");
  });
  await writeFile(join(folder, "go"), "");
  expect(await described).toEqual({ signals: [SIGJSON], states: ["MASTER"] });
});

test("the state is unknown if the dump is never complete", async () => {
  const { folder } = await startFake("cp half.1 keepalived.json");
  const reason = "keepalived did not dump its state within 0.1 s: keepalived.json: it is incomplete";
  const isWritten = () => waitForFile(join(folder, "keepalived.json"));
  expect(await describeState(folder, SOON, isWritten)).toEqual({ signals: [SIGJSON], reason });
});

test("the state is unknown if keepalived writes nothing, even if it did before", async () => {
  const { folder } = await startFake(":");
  await writeFile(join(folder, "keepalived.json"), dumpOf(2));
  const reason = "keepalived did not dump its state within 0.1 s: keepalived.json: no such file";
  expect(await describeState(folder, SOON)).toEqual({ signals: [SIGJSON], reason });
});

test("the state is unknown if the format of the dump is unknown", async () => {
  const { folder } = await startFake("echo [{}] > keepalived.json");
  const reason = "keepalived.json: unknown dump format at $[0].data";
  expect(await describeState(folder)).toEqual({ signals: [SIGJSON], reason });
});

test("the state is unknown if the previous dump cannot be removed, and no signal is sent", async () => {
  const { folder } = await startFake("cp master keepalived.json");
  await mkdir(join(folder, "keepalived.json"));
  const reason = expect.stringMatching(/^keepalived\.json: the previous dump cannot be removed \([A-Z_]+\)$/);
  expect(await describeState(folder)).toEqual({ signals: [], reason });
});

async function statesOf(source: VrrpSource): Promise<readonly string[]> {
  const state = await source();
  return state.ok ? state.interfaces.map((each) => each.state) : [state.reason];
}

test("a request during a dump gets the next dump, never an older state", async () => {
  const { folder } = await startFake(
    "if [ -e go ]; then cp backup keepalived.json; else until [ -e go ]; do read -rt 0.01; done; cp master keepalived.json; fi",
  );
  const signals: number[] = [];
  const source = sourceOf(optionsIn(folder), (pid, signal) => {
    signals.push(signal);
    kill(pid, signal);
  });
  const first = statesOf(source);
  await expect.poll(() => signals).toHaveLength(1);
  const [second, third] = [statesOf(source), statesOf(source)];
  await writeFile(join(folder, "go"), "");
  expect(await Promise.all([first, second, third])).toEqual([["MASTER"], ["BACKUP"], ["BACKUP"]]);
  expect(signals).toEqual([SIGJSON, SIGJSON]);
});

test("the reason for an unknown state is logged when it changes", async () => {
  const folder = await temporaryFolder();
  const { logger, lines } = createMemoryLog();
  const source = sourceOf(optionsIn(folder), kill, logger);
  for (const content of [undefined, undefined, "", ""]) {
    if (content !== undefined) await writeFile(join(folder, "vrrp.pid"), content);
    await source();
  }
  const reasons = ["no such file", "it holds no process id"];
  expect(lines).toMatchObject(
    reasons.map((why) => ({
      level: "warn",
      reason: `keepalived is not running: ${folder}/vrrp.pid: ${why}`,
      msg: "vrrp state is not known",
    })),
  );
});
