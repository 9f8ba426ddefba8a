import { parseArgs } from "node:util";
import { formatTable } from "../../src/exporter/command/format.ts";
import { Secret } from "../../src/support/secret.ts";
import { createAuthority } from "../../test/support/certificates.ts";
import { startSoakedExporter } from "../soak/exporter.ts";
import { sleep, until } from "../support.ts";
import { startPairs, type Pair } from "./pair.ts";
import { play, seconds, type Tally, type Watched } from "./play.ts";
import { createRule, lossesOf, type Spell } from "./rule.ts";

/**
 * `npm run soak:failover [-- --minutes=N]` runs the exporter, with its default settings, with 20 pairs that fail over, reboot, answer late
 * and are synchronized in two steps, and now and then differ permanently. It exits with 1 if FailoverNotReady fires where nothing differs
 * permanently, or does not fire where something does.
 */
const PAIRS = 20;
const USERNAMES = ["monitor", "guard"] as const;
const PASSWORD = "soak";
const SAMPLE_EVERY_MS = 1_000;
const RELOAD_EVERY_SAMPLES = 120;
/** Every tenth reload changes the credentials: all appliances are polled as new ones. */
const RELOADS_PER_USERNAME = 10;
const START = {
  websites: new Map([1, 2, 3, 4, 5].map((id) => [id, { isEnabled: true, mode: "protect" } as const])),
  aliases: ["192.0.2.1"],
};

const { values } = parseArgs({ options: { minutes: { type: "string", default: "60" } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new Error(`--minutes: expected a number above 0, got "${values.minutes}"`);

const startedMs = performance.now();
const endMs = startedMs + minutes * 60_000;
const log = (text: string) => process.stderr.write(`${seconds(performance.now() - startedMs)}: ${text}\n`);

const authority = await createAuthority("Soak Authority");
const { cert, key } = await authority.issue();
const pairs = await startPairs(PAIRS, START, {
  tls: { cert, key: new Secret(key) },
  users: USERNAMES.map((username) => ({ username, password: new Secret(PASSWORD) })),
});
const exporter = await startSoakedExporter(configOf(pairs, 0), authority.cert);
const READY = /^appliance_failover_state\{.*state="ready".*\} 1$/gm;
await until(async () => {
  const text = await exporter.scrape().then(
    (scrape) => scrape.text,
    () => "",
  );
  return text.match(READY)?.length === PAIRS ? true : undefined;
}, 180_000);

const tally: Tally = {
  failovers: 0,
  reboots: 0,
  slowSpells: 0,
  synchronizations: 0,
  found: new Map(),
  wrong: [],
};
const watched = pairs.map((pair): Watched => ({
  ...pair,
  differs: false,
  isInLosses: false,
  isFiring: false,
}));
const playing = Promise.all(watched.map((pair) => play(pair, { tally, endMs, log })));
const rule = createRule();
const spells: Spell[] = [];
let samples = 0;
let reloads = 0;
while (performance.now() < endMs) {
  await sleep(startedMs + samples * SAMPLE_EVERY_MS - performance.now());
  const { text } = await exporter.scrape();
  samples += 1;
  watch(text);
  if (samples % RELOAD_EVERY_SAMPLES > 0) continue;
  reloads += 1;
  await exporter.reload(configOf(pairs, reloads));
}
await Promise.race([playing, sleep(0)]);
await exporter.stop();

const lengths = spells.map(({ sinceMs, untilMs }) => untilMs - sinceMs);
const rows = [
  ["time, pairs", `${seconds(performance.now() - startedMs)}, ${PAIRS}`],
  ["samples, reloads", `${samples}, ${reloads}`],
  ["failovers, reboots, slow spells", `${tally.failovers}, ${tally.reboots}, ${tally.slowSpells}`],
  ["synchronizations in two steps", String(tally.synchronizations)],
  [
    "losses that were seen for a while and are none",
    `${lengths.length}, at most ${seconds(Math.max(0, ...lengths))}`,
  ],
  ...Array.from(tally.found, ([what, count]) => [`found: ${what}`, String(count)]),
  ["false alarms, and what was not found", String(tally.wrong.length)],
];
process.stdout.write(formatTable(["what", "seen"], rows));
for (const problem of tally.wrong) process.stdout.write(`FAILED: ${problem}\n`);
process.exit(tally.wrong.length > 0 ? 1 : 0);

function watch(text: string): void {
  const { fired, over, now } = rule.add(text, performance.now());
  for (const spell of fired) {
    const { appliance } = spell;
    const losses = lossesOf(text, appliance).join(", ");
    log(`FailoverNotReady about ${appliance}: ${losses}`);
    if (pairOf(spell)?.differs === false) tally.wrong.push(`false alarm about ${appliance}: ${losses}`);
  }
  spells.push(...over.filter((spell) => pairOf(spell)?.differs === false));
  for (const pair of watched) {
    const own = now.filter((spell) => pairOf(spell) === pair);
    pair.isInLosses = own.length > 0;
    pair.isFiring = own.some(({ isFiring }) => isFiring);
  }
}

function configOf(all: readonly Pair[], nth: number): unknown {
  const username = USERNAMES[Math.floor(nth / RELOADS_PER_USERNAME) % USERNAMES.length];
  return {
    http_client: { basic_auth: { username, password: PASSWORD }, tls_config: { ca_file: "ca.pem" } },
    website_discovery: true,
    clusters: all.map(({ name, members }) => ({
      name,
      labels: { site: `site-${nth % 2}` },
      appliances: members.map(({ name: appliance, port }) => ({
        name: appliance,
        base_url: `https://127.0.0.1:${port}`,
      })),
    })),
  };
}

function pairOf({ appliance }: Spell): Watched | undefined {
  return watched.find(({ members }) => members.some(({ name }) => name === appliance));
}
