import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { bandOf } from "../../../src/history/journal/bands.ts";
import { parseRecord } from "../../../src/history/journal/record.ts";
import { groupBy } from "../../../src/support/group-by.ts";
import { startTestDemo } from "../../program/demo/support.ts";
import { linesIn } from "./support.ts";

// An exporter runs until each kind of record is written.
vi.setConfig({ testTimeout: 40_000, expect: { poll: { timeout: 30_000 } } });

const PAGE = readFileSync(new URL("../../../docs/history.md", import.meta.url), "utf8");

/** The fields of each kind of record besides `at` and `kind`, in the table of the page. */
const DOCUMENTED = new Map(
  Array.from(
    PAGE.matchAll(/^\| `(\w+)` \| [^|]* \| ((?:`\w+`(?:, )?)*) *\|$/gm),
    ([, kind = "", fields = ""]) => [kind, [...fields.matchAll(/\w+/g)].map(([field]) => field)],
  ),
);

const EVERYWHERE = new Set(["at", "kind"]);
/** What identifies a subject needs no row of its own. */
const IDENTITY = new Set(["cluster", "appliance", "vhid", "vip", "id", "name"]);

/** The fields of each kind of record that any of the lines has, sorted. */
function fieldsIn(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const byKind = groupBy(
    lines.map((line): { readonly at: string; readonly kind: string } => JSON.parse(line)),
    ({ kind }) => kind,
  );
  return new Map(
    Array.from(byKind, ([kind, records]) => {
      const fields = new Set(
        records.flatMap((record) => Object.keys(record)).filter((field) => !EVERYWHERE.has(field)),
      );
      return [kind, [...fields].toSorted()];
    }),
  );
}

test("each line on the page is a record without unknown fields, and the page has lines of all kinds", () => {
  const lines = PAGE.match(/^\{"at":.*$/gm) ?? [];
  for (const line of lines) expect(parseRecord(line)).toEqual(JSON.parse(line));
  expect([...fieldsIn(lines).keys()].toSorted()).toEqual([...DOCUMENTED.keys()].toSorted());
});

test("the page says which states are up and down", () => {
  const kinds = ["group", "website", "appliance", "readiness"] as const;
  const bands = ["up", "impaired", "down", "unknown"];
  const [, table = ""] = PAGE.split("\n### Up and down\n");
  const states = kinds.flatMap((kind) => {
    const [, row = ""] = new RegExp(`^\\| \`${kind}\` \\| (.*) \\|$`, "m").exec(table) ?? [];
    return row
      .split(" | ")
      .flatMap((cell, nth) => (cell.match(/\w+/g) ?? []).map((state) => ({ kind, state, band: bands[nth] })));
  });
  expect(states.length).toBe(22);
  expect(states.filter(({ band, ...record }) => bandOf(record) !== band)).toEqual([]);
});

test("the page has each field that the exporter writes in the table of its kind, and explains each field", async () => {
  const demo = await startTestDemo();
  const folder = join(dirname(demo.configFile), "journal");
  const written = async () => fieldsIn(await linesIn(folder).catch(() => []));
  await expect.poll(written).toSatisfy((kinds) => kinds.has("readiness"));
  // A failover.
  demo.step();
  await expect.poll(written).toSatisfy((kinds) => kinds.has("incident"));
  const kinds = await written();
  expect([...kinds.keys()]).toEqual(
    expect.arrayContaining(["run", "group", "website", "appliance", "cluster"]),
  );
  const all = [...DOCUMENTED.values()].flat();
  const missing = [...kinds].filter(([kind, fields]) =>
    fields.some((each) => !DOCUMENTED.get(kind)?.includes(each)),
  );
  expect(missing).toEqual([]);
  const explained = new Set(
    Array.from(
      PAGE.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| /gm),
      ([, names = ""]) => names.match(/\w+/g) ?? [],
    ).flat(),
  );
  expect(all.filter((field) => !explained.has(field) && !IDENTITY.has(field))).toEqual([]);
});
