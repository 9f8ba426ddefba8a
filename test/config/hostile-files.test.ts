import { join } from "node:path";
import { expect, test } from "vitest";
import { countErrors, formatConfigError } from "../../src/config/errors.ts";
import { loadConfig } from "../../src/config/load.ts";
import { loadApplianceConfig } from "../../src/appliance/config.ts";
import { loadWebConfig } from "../../src/web/web-config.ts";
import { createFolder } from "./folder.ts";
import { HOSTILE_FILES, HOSTILE_FLEETS, HOSTILE_SCHEDULES, schedule } from "./hostile-files.ts";

/** Enough items to overflow zod's stack, and to take minutes in more than linear time. */
const MANY = 150_000;
const LARGEST: ReadonlySet<string> = new Set([
  "unknown keys in one appliance",
  "labels that are none",
  "appliances that are numbers",
]);
/** More than linear time takes minutes; linear time takes seconds. */
const PATIENCE = { timeout: 120_000 };

async function fileOf(text: string): Promise<string> {
  return join(await createFolder({ "config.yaml": text }), "config.yaml");
}

async function errorsOf(text: string, load: (file: string) => Promise<Checked> = loadConfig) {
  const result = await load(await fileOf(text));
  return result.ok ? [] : result.errors;
}

type Checked = Awaited<ReturnType<typeof loadConfig | typeof loadWebConfig | typeof loadApplianceConfig>>;

test.for(HOSTILE_FILES.map(({ name, text }) => [name, text] as const))(
  "%s: 100 errors at most, and how many more",
  PATIENCE,
  async ([name, text]) => {
    const errors = await errorsOf(text(LARGEST.has(name) ? MANY : 20_000));
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length).toBeLessThanOrEqual(101);
    expect(errors.slice(0, 100).filter(({ more }) => more !== undefined && errors.length > 100)).toEqual([]);
  },
);

test.for(HOSTILE_FLEETS.map(({ name, text }) => [name, text] as const))(
  "%s: an error each, 100 of them shown, and how many more",
  PATIENCE,
  async ([, text]) => {
    const errors = await errorsOf(text(2_000));
    expect(errors).toHaveLength(101);
    expect(countErrors(errors)).toBeGreaterThan(1_900);
  },
);

test.each(HOSTILE_SCHEDULES.map((expression) => [expression.slice(0, 50), expression]))(
  "the schedule %s is one error",
  async (_, expression) => {
    const [error, ...more] = await errorsOf(schedule(expression));
    expect(more).toEqual([]);
    expect(error?.message).toMatch(/^expected a node-cron expression/);
  },
);

test("unknown keys: the first hundred in the order of the file, then how many more", async () => {
  const text = `${Array.from({ length: 250 }, (_, n) => `k${n}: 1\n`).join("")}appliances: []\n`;
  const file = await fileOf(text);
  const result = await loadConfig(file);
  expect(result.ok ? [] : result.errors.map(formatConfigError)).toEqual([
    ...Array.from({ length: 100 }, (_, n) => `${file}:${n + 1}:1: unknown key "k${n}"`),
    `${file}: 150 more errors`,
  ]);
});

test.for([
  ["keys", Array.from({ length: 20_000 }, (_, n) => `u${n}: x\n`).join("")],
  ["users", `basic_auth_users:\n${Array.from({ length: 20_000 }, (_, n) => `  u${n}: x\n`).join("")}`],
])("%s of the web configuration: 100 errors, and how many more", PATIENCE, async ([, text = ""]) => {
  const errors = await errorsOf(text, loadWebConfig);
  expect(errors).toHaveLength(101);
  expect(countErrors(errors)).toBeGreaterThanOrEqual(20_000);
});

test.for([
  ["websites", `websites: [${"1, ".repeat(20_000)}]\n`],
  [
    "interfaces",
    `vrrp:\n  source: static\n  interfaces:\n${Array.from({ length: 20_000 }, (_, n) => `    i${n}: 1\n`).join("")}`,
  ],
])("%s of the reference appliance: 100 errors, and how many more", PATIENCE, async ([, text = ""]) => {
  const errors = await errorsOf(text, loadApplianceConfig);
  expect(errors).toHaveLength(101);
  expect(countErrors(errors)).toBeGreaterThanOrEqual(20_000);
});
