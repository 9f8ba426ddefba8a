import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse, stringify } from "yaml";
import { startAlertmanager, type Alertmanager } from "../support/alertmanager-server.ts";
import { toolPath } from "../support/tool.ts";

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

/** Runs amtool. */
export function amtool(...args: readonly string[]) {
  return outcomeOf(spawnSync(toolPath("amtool"), args, { encoding: "utf8" }));
}

/** Runs a line that calls amtool, as a shell does. */
export function amtoolLine(line: string) {
  return outcomeOf(spawnSync("sh", ["-c", line], { encoding: "utf8" }));
}

function outcomeOf({ status, stdout, stderr }: SpawnSyncReturns<string>) {
  return { status, output: stdout.trim(), problem: stderr };
}

/** Starts Alertmanager with the example. Its receivers keep their names and send nothing. */
export function startExample(): Promise<Alertmanager> {
  const receivers = EXAMPLE.receivers.map(({ name }) => ({ name }));
  return startAlertmanager(stringify({ ...EXAMPLE, receivers }));
}
