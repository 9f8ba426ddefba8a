import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { RULES } from "./rule-tests.ts";

interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface AlertingRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly (RecordingRule | AlertingRule)[] }[];
}

const rules = readdirSync(RULES)
  .filter((file) => file.endsWith(".rules.yml"))
  .flatMap((file) => {
    const { groups }: RuleFile = parse(readFileSync(join(RULES, file), "utf8"));
    return groups.flatMap((group) => group.rules);
  });

/** All rules, in the order of files and groups. */
export const ALERTS: readonly AlertingRule[] = rules.flatMap((rule) => ("alert" in rule ? rule : []));
export const RECORDS: readonly RecordingRule[] = rules.flatMap((rule) => ("record" in rule ? rule : []));
