/** Mistaken files of `size` items, which must be rejected quickly. */
const MISTAKES: readonly ((size: number) => string)[] = [
  (size) => `${repeat(size, (n) => `k${n}: 1\n`)}appliances: []\n`,
  (size) => `appliances:\n${ONE}${repeat(size, (n) => `    k${n}: 1\n`)}`,
  (size) => `appliances:\n  - &a { name: a, base_url: "https://h" }\n${"  - *a\n".repeat(size)}`,
  (size) => `appliances:\n${"  - *a\n".repeat(size)}`,
  (size) => "appliances: []\n".repeat(size),
  (size) => `appliances:\n${ONE}    labels:\n${repeat(size, (n) => `      1${n}: x\n`)}`,
  (size) => `appliances:\n${ONE}    websites: [${"x, ".repeat(size)}]\n`,
  (size) => `clusters: [{ name: c, appliances: [${"1, ".repeat(size)}] }]\n`,
  (size) => `config_files: [${repeat(size, (n) => `none${n}, `)}]\n`,
  (size) => `appliances: [{ name: a, base_url: "https://h${"/".repeat(size)}x" }]\n`,
  (size) => `[${",".repeat(size)}`,
  (size) => "]".repeat(size),
  (size) => "---\n".repeat(size),
  (size) => "!a ".repeat(size),
  (size) => `a:\n${"\t- b\n".repeat(size)}`,
  (size) => appliances(size / 10, () => "polling: { vrrp: { interval: 1s, timeout: 2s } }"),
  (size) => `m: &m { labels: { a: b }, x: 2 }\nappliances:\n${"  - { <<: [*m, *m] }\n".repeat(size / 10)}`,
  (size) =>
    `clusters:\n  - name: c\n    appliances:\n${repeat(size / 10, (n) => `      - { name: a${n}, base_url: "https://h" }\n`)}`,
];

const ONE = '  - name: a\n    base_url: "https://h"\n';

/** Expressions that node-cron would expand forever or until memory is exhausted. */
const SCHEDULES: readonly string[] = [
  "0-999999999 * * * * *",
  "0 0 0 1 1-dec999999999 *",
  "0-59/99999999999999999999 * * * * *",
  `${"1,".repeat(100_000)}1 * * * * *`,
];

export const HOSTILE_FILES: readonly string[] = [
  ...MISTAKES.map((text) => text(20_000)),
  ...SCHEDULES.map((each) => `polling: { vrrp: { schedule: "${each}" } }\nappliances: []\n`),
];

function repeat(count: number, line: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => line(index)).join("");
}

function appliances(count: number, more: (index: number) => string): string {
  return `appliances:\n${repeat(count, (n) => `  - { name: a${n}, base_url: "https://h${n}", ${more(n)} }\n`)}`;
}
