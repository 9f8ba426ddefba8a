import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { Labels } from "./world.ts";

interface Example {
  readonly receivers: readonly {
    readonly name: string;
    readonly pagerduty_configs?: readonly Readonly<Record<string, unknown>>[];
    readonly slack_configs?: readonly Readonly<Record<string, unknown>>[];
  }[];
  readonly inhibit_rules: readonly {
    readonly source_matchers: readonly string[];
    readonly target_matchers: readonly string[];
    readonly equal?: readonly string[];
  }[];
}

/** The example for Alertmanager. */
export const EXAMPLE_FILE = fileURLToPath(
  new URL("../../monitoring/alertmanager/alertmanager.yml", import.meta.url),
);
export const EXAMPLE: Example = parse(readFileSync(EXAMPLE_FILE, "utf8"), { merge: true });

type Matcher = (labels: Labels) => boolean;

interface Inhibition {
  readonly source: readonly Matcher[];
  readonly target: readonly Matcher[];
  readonly equal: readonly string[];
}

/** A label that is missing is an empty text, as in Alertmanager. */
function matcherOf(text: string): Matcher {
  const [, name = "", operator = "", value = ""] = /^(\w+)(=~|!~|!=|=)"(.*)"$/.exec(text) ?? [];
  if (name === "") throw new Error(`not a matcher: ${text}`);
  const pattern = new RegExp(`^(?:${value})$`);
  return (labels) => {
    const actual = labels[name] ?? "";
    const isFound = operator.includes("~") ? pattern.test(actual) : actual === value;
    return operator.startsWith("!") ? !isFound : isFound;
  };
}

const INHIBITIONS: readonly Inhibition[] = EXAMPLE.inhibit_rules.map(
  ({ source_matchers, target_matchers, equal = [] }) => ({
    source: source_matchers.map(matcherOf),
    target: target_matchers.map(matcherOf),
    equal,
  }),
);

/** Whether the example silences one alert while another fires. */
export function silences(source: Labels, target: Labels): boolean {
  return INHIBITIONS.some((inhibition) => {
    const isIn = (side: "source" | "target", labels: Labels) =>
      inhibition[side].every((matches) => matches(labels));
    // Alerts that match both sides do not silence each other, nor themselves.
    const areOnBothSides = isIn("target", source) && isIn("source", target);
    const isEqual = inhibition.equal.every((label) => (source[label] ?? "") === (target[label] ?? ""));
    return isIn("source", source) && isIn("target", target) && isEqual && !areOnBothSides;
  });
}
