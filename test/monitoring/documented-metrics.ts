import { readFileSync } from "node:fs";

const PAGE = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");

/** The first three cells of every row of the page's tables that are headed so. */
function rows(heading: string): readonly (readonly string[])[] {
  return PAGE.split("\n\n")
    .filter((block) => block.startsWith(`| ${heading} |`))
    .flatMap((block) => block.trimEnd().split("\n").slice(2))
    .map((line) =>
      line
        .split("|")
        .map((cell) => cell.replaceAll("`", "").trim())
        .slice(1),
    );
}

const COMMON = ["appliance", "ha_cluster", "site"];

/** docs/metrics.md: each family's own labels, and those that all series of an appliance carry. */
export const LABELS: ReadonlyMap<string, readonly string[]> = new Map(
  rows("family").flatMap(([name = "", type, labels = ""]): [string, string[]][] => {
    const all = [...COMMON, ...labels.split(", ").filter((label) => label !== "")];
    return type === "histogram"
      ? ["_bucket", "_sum", "_count"].map((suffix) => [`${name}${suffix}`, [...all, "le"]])
      : [[name, all]];
  }),
);

export const REASONS: ReadonlySet<string> = new Set(rows("reason").map(([reason = ""]) => reason));
