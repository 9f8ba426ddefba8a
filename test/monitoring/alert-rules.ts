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

interface Group {
  /** Prometheus evaluates each group apart from the others. */
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

/** A committed file of rules, with its rules in their order. */
interface Rules {
  readonly text: string;
  readonly groups: readonly Group[];
  readonly alerts: readonly AlertingRule[];
  readonly records: readonly RecordingRule[];
}

function rulesIn(file: URL): Rules {
  const text = readFileSync(file, "utf8");
  const { groups }: Pick<Rules, "groups"> = parse(text, { merge: true });
  const rules = groups.flatMap((group) => group.rules);
  return {
    text,
    groups,
    alerts: rules.flatMap((rule) => ("alert" in rule ? rule : [])),
    records: rules.flatMap((rule) => ("record" in rule ? rule : [])),
  };
}

/** Where the rules lie. */
export const RULES = new URL("../../monitoring/prometheus/", import.meta.url);

export const {
  text: RULES_TEXT,
  groups: GROUPS,
  alerts: ALERTS,
  records: RECORDS,
} = rulesIn(new URL("appliance-exporter.rules.yml", RULES));

/** The rules about probes of blackbox_exporter. */
export const PROBES = rulesIn(new URL("../blackbox/blackbox.rules.yml", RULES));

export const ALL_GROUPS = [...GROUPS, ...PROBES.groups];
export const ALL_ALERTS = [...ALERTS, ...PROBES.alerts];
