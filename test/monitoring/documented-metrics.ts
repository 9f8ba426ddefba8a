import { readFileSync } from "node:fs";

const PAGE = readFileSync(new URL("../../docs/reference/metrics.md", import.meta.url), "utf8");
const ROWS = [...PAGE.matchAll(/^\| `(\w+)` \| (gauge|counter|histogram) \|/gm)];

/** The metric families in docs/reference/metrics.md. */
export const FAMILIES = ROWS.map(([, name = ""]) => name);

/** The same, with the suffixes of histograms. */
export const METRICS = ROWS.flatMap(([, name = "", type]) =>
  type === "histogram" ? ["_bucket", "_sum", "_count"].map((suffix) => name + suffix) : [name],
);
