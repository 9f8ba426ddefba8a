import { Identifier, parser, VectorSelector } from "@prometheus-io/lezer-promql";

/** The text with every variable of the dashboard filled in: all clusters, appliances and websites. */
export function fillIn(text: string, cluster = ".*"): string {
  const values: Readonly<Record<string, string>> = {
    cluster,
    appliance: ".*",
    website: ".*",
    __range: "10m",
    __interval: "1s",
    __rate_interval: "4s",
  };
  return text.replace(/\$([a-z_]+)/g, (variable, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`${variable} is no variable of the dashboard`);
    return value;
  });
}

/**
 * The names of all metrics in a PromQL expression.
 *
 * @throws if it is no PromQL
 */
export function metricNames(expression: string): readonly string[] {
  const names: string[] = [];
  const tree = parser.configure({ strict: true }).parse(expression);
  tree.iterate({
    enter: ({ node }) => {
      const name = node.type.id === VectorSelector ? node.getChild(Identifier) : null;
      if (name !== null) names.push(expression.slice(name.from, name.to));
    },
  });
  return names;
}
