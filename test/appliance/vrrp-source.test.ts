import { open, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect, onTestFinished, test } from "vitest";

import type { VrrpSource } from "../../src/appliance/routes.ts";
import { SIGJSON, startFake } from "./keepalived/fake.ts";
import { optionsIn, sourceOf, temporaryFolder } from "./keepalived/support.ts";
import { eventually } from "../support/eventually.ts";

async function statesOf(source: VrrpSource): Promise<readonly string[]> {
  const state = await source();
  return state.ok ? state.interfaces.map((each) => each.state) : [state.reason];
}

/** A source with a fake keepalived, and the signals that it sends. */
async function startSource(onSignal: string) {
  const { folder, child } = await startFake(onSignal);
  const signals: number[] = [];
  const source = await sourceOf(
    { source: "keepalived", ...optionsIn(folder) },
    {
      sendSignal: (pid, signal) => {
        signals.push(signal);
        process.kill(pid, signal);
      },
    },
  );
  return { folder, child, signals, source };
}

test("a request during a dump gets the next dump, never an older state", async () => {
  const { source, signals, folder } = await startSource(
    "if [ -e go ]; then cp backup keepalived.json; else until [ -e go ]; do read -rt 0.01; done; cp master keepalived.json; fi",
  );
  const first = statesOf(source);
  await expect.poll(() => signals).toHaveLength(1);
  const [second, third] = [statesOf(source), statesOf(source)];
  await writeFile(join(folder, "go"), "");
  expect(await Promise.all([first, second, third])).toEqual([["MASTER"], ["BACKUP"], ["BACKUP"]]);
  expect(signals).toEqual([SIGJSON, SIGJSON]);
});

test("the reason for an unknown state is logged when it changes", async () => {
  const folder = await temporaryFolder();
  const log = await open(join(folder, "log"), "w");
  onTestFinished(() => log.close());
  const source = await sourceOf({ source: "keepalived", ...optionsIn(folder) }, { logFd: log.fd });
  for (const content of [undefined, undefined, "", ""]) {
    if (content !== undefined) await writeFile(join(folder, "vrrp.pid"), content);
    await source();
  }
  await eventually(async () => {
    const lines = (await readFile(join(folder, "log"), "utf8")).replaceAll(`${folder}/`, "").split("\n");
    expect(lines.map((line) => line.replace(/ time=\S+/, ""))).toEqual([
      'level=warn reason="keepalived is not running: vrrp.pid: no such file" msg="vrrp state is not known"',
      'level=warn reason="keepalived is not running: vrrp.pid: it holds no process id" msg="vrrp state is not known"',
      "",
    ]);
  });
});
