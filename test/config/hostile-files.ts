/** Files that must be rejected quickly; `text(size)` has about that many items. */
export interface HostileFile {
  readonly name: string;
  readonly text: (size: number) => string;
}

function repeat(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("");
}

function appliances(count: number, more: (index: number) => string): string {
  return `appliances:\n${repeat(count, (n) => `  - { name: a${n}, base_url: "https://h${n}", ${more(n)} }\n`)}`;
}

const ONE = '  - name: a\n    base_url: "https://h"\n';

export const HOSTILE_FILES: readonly HostileFile[] = [
  { name: "unknown keys at the top", text: (size) => `${repeat(size, (n) => `k${n}: 1\n`)}appliances: []\n` },
  {
    name: "unknown keys in one appliance",
    text: (size) => `appliances:\n${ONE}${repeat(size, (n) => `    k${n}: 1\n`)}`,
  },
  {
    name: "aliases of one appliance",
    text: (size) => `appliances:\n  - &a { name: a, base_url: "https://h" }\n${"  - *a\n".repeat(size)}`,
  },
  {
    name: "aliases as labels",
    text: (size) => `x: &x 1\nappliances:\n${ONE}    labels:\n${repeat(size, (n) => `      l${n}: *x\n`)}`,
  },
  { name: "aliases without an anchor", text: (size) => `appliances:\n${"  - *a\n".repeat(size)}` },
  { name: "one key again and again", text: (size) => "appliances: []\n".repeat(size) },
  {
    name: "labels that are none",
    text: (size) => `appliances:\n${ONE}    labels:\n${repeat(size, (n) => `      1${n}: x\n`)}`,
  },
  {
    name: "websites that are none",
    text: (size) => `appliances:\n${ONE}    websites: [${"x, ".repeat(size)}]\n`,
  },
  {
    name: "appliances that are numbers",
    text: (size) => `clusters: [{ name: c, appliances: [${"1, ".repeat(size)}] }]\n`,
  },
  {
    name: "status codes that are none",
    text: (size) => `appliances:\n${ONE}    websites: [{ id: 1, expect_status: [${"x, ".repeat(size)}] }]\n`,
  },
  {
    name: "pins that are none",
    text: (size) =>
      `http_client: { tls_config: { certificate_sha256: [${"x, ".repeat(size)}] } }\nappliances: []\n`,
  },
  { name: "patterns of files", text: (size) => `config_files: [${repeat(size, (n) => `none${n}, `)}]\n` },
  {
    name: "a pattern of many stars",
    text: (size) => `config_files: ["${"*a".repeat(Math.min(size, 2_000))}*.none"]\n`,
  },
  { name: "a schedule with a list of values", text: (size) => schedule(`${"1,".repeat(size)}1 * * * * *`) },
  {
    name: "an address of slashes",
    text: (size) => `appliances: [{ name: a, base_url: "https://h${"/".repeat(size)}x" }]\n`,
  },
  { name: "commas", text: (size) => `[${",".repeat(size)}` },
  { name: "brackets that close nothing", text: (size) => "]".repeat(size) },
  { name: "ends of documents", text: (size) => "...\n".repeat(size) },
  { name: "documents", text: (size) => "---\n".repeat(size) },
  { name: "directives", text: (size) => "%X\n".repeat(size) },
  { name: "tags", text: (size) => "!a ".repeat(size) },
  { name: "tabs", text: (size) => `a:\n${"\t- b\n".repeat(size)}` },
  { name: "escapes that there are not", text: (size) => `"${String.raw`\q`.repeat(size)}"` },
];

/** The same with many appliances: even a valid file of this kind takes a while. */
export const HOSTILE_FLEETS: readonly HostileFile[] = [
  { name: "an unknown key in each appliance", text: (size) => appliances(size, () => "x: 1") },
  {
    name: "merges of one map",
    text: (size) => `m: &m { labels: { a: b }, x: 2 }\nappliances:\n${"  - { <<: [*m, *m] }\n".repeat(size)}`,
  },
  {
    name: "one name for all appliances",
    text: (size) => `appliances:\n${repeat(size, (n) => `  - { name: a, base_url: "https://h${n}" }\n`)}`,
  },
  {
    name: "one address for all members of a cluster",
    text: (size) =>
      `clusters:\n  - name: c\n    appliances:\n${repeat(size, (n) => `      - { name: a${n}, base_url: "https://h" }\n`)}`,
  },
  {
    name: "schedules with a second that there is not",
    text: (size) => appliances(size, () => 'polling: { vrrp: { schedule: "61 * * * * *" } }'),
  },
  {
    name: "timeouts longer than the interval",
    text: (size) => appliances(size, () => "polling: { vrrp: { interval: 1s, timeout: 2s } }"),
  },
];

/** Expressions that node-cron would expand forever or until memory is exhausted. */
export const HOSTILE_SCHEDULES: readonly string[] = [
  "0-999999999 * * * * *",
  "*9999999 * * * * *",
  "0 0 0 1 1-dec999999999 *",
  "0 0 0 * * 0-sat999999999",
  "9007199254740992-9007199254740994 * * * * *",
  "0-59/99999999999999999999 * * * * *",
  `${"1,".repeat(100_000)}1 * * * * *`,
  `0 0 0 1 ${"jan".repeat(100_000)} *`,
];

export function schedule(expression: string): string {
  return `polling: { vrrp: { schedule: "${expression}" } }\nappliances: []\n`;
}
