import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

interface Example {
  readonly receivers: readonly {
    readonly name: string;
    readonly pagerduty_configs?: readonly Readonly<Record<string, unknown>>[];
    readonly slack_configs?: readonly Readonly<Record<string, unknown>>[];
  }[];
}

/** The example for Alertmanager. */
export const EXAMPLE_FILE = fileURLToPath(
  new URL("../../monitoring/alertmanager/alertmanager.yml", import.meta.url),
);
export const EXAMPLE: Example = parse(readFileSync(EXAMPLE_FILE, "utf8"), { merge: true });
