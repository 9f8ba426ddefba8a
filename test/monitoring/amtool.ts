import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "vitest";
import { parse, stringify } from "yaml";
import { startAlertmanager, type Alertmanager } from "../support/alertmanager-server.ts";

type Skip = (reason: string) => never;

interface Example {
  readonly receivers: readonly { readonly name: string }[];
  readonly inhibit_rules: readonly {
    readonly source_matchers: readonly string[];
    readonly target_matchers: readonly string[];
    readonly equal?: readonly string[];
  }[];
}

export const EXAMPLE_FILE = fileURLToPath(
  new URL("../../monitoring/alertmanager/alertmanager.yml", import.meta.url),
);
export const EXAMPLE: Example = parse(readFileSync(EXAMPLE_FILE, "utf8"));

/** Runs amtool; skips the test that asks, with the reason, where it cannot be had. */
export function amtool(skip: Skip, ...args: readonly string[]) {
  return outcomeOf(spawnSync(amtoolOr(skip), args, { encoding: "utf8" }));
}

/** Runs a line that calls amtool, as somebody types it. */
export function typeAmtool(skip: Skip, line: string) {
  const path = `${dirname(amtoolOr(skip))}:${process.env["PATH"]}`;
  return outcomeOf(spawnSync("sh", ["-c", line], { encoding: "utf8", env: { ...process.env, PATH: path } }));
}

function amtoolOr(skip: Skip): string {
  const tool = inject("amtool");
  return tool.ok ? tool.path : skip(tool.reason);
}

function outcomeOf({ status, stdout, stderr }: SpawnSyncReturns<string>) {
  return { status, output: stdout.trim(), problem: stderr };
}

/** Alertmanager with the example, but for its receivers, which take no notifications; the reason where it cannot be had. */
export async function startExample(): Promise<Alertmanager | string> {
  const tool = inject("alertmanager");
  if (!tool.ok) return tool.reason;
  const receivers = EXAMPLE.receivers.map(({ name }) => ({ name }));
  return startAlertmanager(tool.path, stringify({ ...EXAMPLE, receivers }));
}
