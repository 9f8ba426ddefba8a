import { BinaryExpr, Identifier, parser, VectorSelector } from "@prometheus-io/lezer-promql";

/** The text with every variable of the dashboard filled in: all clusters, appliances and websites. */
export function fillIn(text: string, cluster = ".*"): string {
  const values: Readonly<Record<string, string>> = {
    site: ".*",
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

const strict = parser.configure({ strict: true });

/** Whether a PromQL expression brings series together: an operator has selectors on both sides. */
export function joinsSeries(expression: string): boolean {
  let isJoin = false;
  strict.parse(expression).iterate({
    enter: ({ node }) => {
      if (node.type.id !== BinaryExpr) return;
      const sides = [node.firstChild, node.lastChild];
      isJoin ||= sides.every((side) => side && metricNames(expression.slice(side.from, side.to)).length > 0);
    },
  });
  return isJoin;
}

/**
 * The names of all metrics in a PromQL expression.
 *
 * @throws if it is no PromQL
 */
export function metricNames(expression: string): readonly string[] {
  const names: string[] = [];
  strict.parse(expression).iterate({
    enter: ({ node }) => {
      const name = node.type.id === VectorSelector ? node.getChild(Identifier) : null;
      if (name !== null) names.push(expression.slice(name.from, name.to));
    },
  });
  return names;
}
