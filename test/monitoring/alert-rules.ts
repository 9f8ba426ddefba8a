import { readFileSync } from "node:fs";
import { parse } from "yaml";

interface RecordingRule {
  readonly record: string;
  readonly expr: string;
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
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly (RecordingRule | AlertingRule)[];
  }[];
}

/** Where the rules lie. */
export const RULES = new URL("../../monitoring/prometheus/", import.meta.url);

/** The committed text of the rules. */
export const RULES_TEXT = readFileSync(new URL("appliance-exporter.rules.yml", RULES), "utf8");

/** Of Prometheus, each evaluated apart from the others. */
export const { groups: GROUPS }: RuleFile = parse(RULES_TEXT, { merge: true });
const rules = GROUPS.flatMap((group) => group.rules);

/** All rules, in the order of the file. */
export const ALERTS: readonly AlertingRule[] = rules.flatMap((rule) => ("alert" in rule ? rule : []));
export const RECORDS: readonly RecordingRule[] = rules.flatMap((rule) => ("record" in rule ? rule : []));
