import { Identifier, parser, VectorSelector } from "@prometheus-io/lezer-promql";

/** What takes the place of Grafana's variables. */
export interface Filling {
  /** Patterns. */
  readonly cluster?: string;
  readonly appliance?: string;
  readonly website?: string;
  /** Prometheus durations. */
  readonly range?: string;
  readonly interval?: string;
}

/** The text with every variable filled in, all clusters, appliances and websites unless told otherwise. */
export function fillIn(text: string, filling: Filling = {}): string {
  const { cluster = ".*", appliance = ".*", website = ".*", range = "1m", interval = "1s" } = filling;
  const values: Readonly<Record<string, string>> = {
    cluster,
    appliance,
    website,
    __range: range,
    __interval: interval,
    __rate_interval: "4s",
  };
  // `$1` belongs to label_replace.
  return text.replace(/\$([a-z_]+)/g, (variable, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${variable} is no variable of the dashboard`);
    return value;
  });
}

/** @throws where it is no PromQL */
export function parse(expression: string) {
  return parser.configure({ strict: true }).parse(expression);
}

/** The names of all metrics in it. */
export function metricNames(expression: string): readonly string[] {
  const names: string[] = [];
  parse(expression).iterate({
    enter: ({ node }) => {
      const name = node.type.id === VectorSelector ? node.getChild(Identifier) : null;
      if (name !== null) names.push(expression.slice(name.from, name.to));
    },
  });
  return names;
}
