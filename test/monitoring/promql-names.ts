/** A vector selector, as far as it is written out: `metric{label="value"}`. */
interface Selector {
  readonly metric: string;
  readonly matchers: readonly { readonly label: string; readonly value: string }[];
}

const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g;
const KEYWORDS = new Set(["and", "or", "unless", "bool", "offset"]);

/** The selectors of an expression in PromQL. One that names no metric is not found: we write none. */
export function selectorsOf(expr: string): readonly Selector[] {
  const bare = expr.replace(GROUPING, " ").replace(/\[[^\]]*\]/g, " ");
  const words = bare.matchAll(/"(?:[^"\\]|\\.)*"|(?<![\w:.])([a-zA-Z_:][\w:]*)\s*(\{[^}]*\}|\()?/g);
  return [...words].flatMap(([, metric, after = ""]) =>
    metric === undefined || after === "(" || KEYWORDS.has(metric)
      ? []
      : { metric, matchers: matchersOf(after) },
  );
}

function matchersOf(braces: string): Selector["matchers"] {
  return [...braces.matchAll(/([a-zA-Z_]\w*)\s*(?:=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = "", value = ""]) => ({ label, value }),
  );
}

/** The labels that an expression groups and matches by. */
export function groupingLabelsOf(expr: string): readonly string[] {
  return [...expr.matchAll(GROUPING)]
    .flatMap(([, labels = ""]) => labels.split(",").map((label) => label.trim()))
    .filter((label) => label !== "");
}

/** The expressions that a template asks Prometheus for, with some text where it fills in a label. */
export function queriesOf(template: string): readonly string[] {
  return [...template.matchAll(/\bquery (?:\(printf )?("(?:[^"\\]|\\.)*")/g)].map(([, text = '""']) => {
    const format: unknown = JSON.parse(text);
    return String(format).replaceAll("%q", '"filled in"');
  });
}
