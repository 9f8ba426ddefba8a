import type { WebsiteBlock } from "../../../src/exporter/api/website-test.ts";
import { createStatusBoard } from "../../../src/exporter/board/board.ts";
import { formatShard, WHOLE_FLEET } from "../../../src/exporter/config/shard.ts";
import type { FleetDocument } from "../../../src/exporter/document/schema.ts";
import { createFleet } from "../../../src/exporter/fleet/fleet.ts";
import { instantOf } from "../../../src/exporter/judge/words.ts";
import type { MaintenanceWindow } from "../../../src/exporter/maintenance/window.ts";
import { createSelfMetrics } from "../../../src/exporter/metrics/self.ts";
import type { Strips } from "../../../src/exporter/view/strip.ts";
import { createRecorder } from "../../../src/history/journal/recorder.ts";
import { createTimelines } from "../../../src/history/timeline/timelines.ts";
import { createLog } from "../../../src/support/log.ts";
import { BUILD } from "../../support/build-facts.ts";
import {
  applianceOf,
  configOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  websiteOf,
} from "../../support/observations.ts";

/** Now, for all played fleets. */
export const PLAYED_MS = Date.parse("2026-11-28T04:35:02Z");

const [SECOND, MINUTE, HOUR] = [1000, 60_000, 3_600_000];
const STDERR_FD = 2;
const NAMES = (
  "ams par lon waw sin muc ber vie rtm fra zrh mil mad lis osl sto hel cph dub bru lux prg bud ath rom bcn lyo mrs nce ham " +
  "cgn str gva bsl sof buh rig tll vno kbp ist tlv cai jnb nbo los cas dxb doh bom del hkg nrt icn syd mel akl sfo lax nyc"
).split(" ");
/** How many clusters are polled at first right after a start. */
const POLLED = 40;
const SITES = ["shop", "www", "blog", "portal", "api", "mail", "docs", "login", "cdn", "status"];
const REGIONS = ["emea", "amer", "apac"];

/** What a member says: of each of its two groups, or why it cannot be polled. */
type Said = readonly [string, string] | "timeout" | "auth";
/** What a member says, and the statuses of its websites that are not 200; 0: no response. */
interface Answer {
  readonly said: Said;
  readonly statuses?: Readonly<Record<string, number>>;
}
const FIRST: Answer = { said: ["MASTER", "MASTER"] };
const SECOND_ONE: Answer = { said: ["BACKUP", "BACKUP"] };

/** What happens to clusters, by name: both answers from an instant on, before now. */
interface Step {
  readonly agoMs: number;
  readonly cluster: string;
  readonly answers: readonly [Answer, Answer];
}

const both = (statuses: Answer["statuses"] = {}): Step["answers"] => [
  { ...FIRST, statuses },
  { ...SECOND_ONE, statuses },
];

/** The day before, which all situations share but the start. */
const DAY: readonly Step[] = [
  { agoMs: 9 * HOUR, cluster: "ams", answers: both({ blog: 500 }) },
  {
    agoMs: 9 * HOUR - 6 * MINUTE,
    cluster: "ams",
    answers: [FIRST, { ...SECOND_ONE, statuses: { blog: 500 } }],
  },
  { agoMs: 7 * HOUR, cluster: "ams", answers: both() },
  { agoMs: 5 * HOUR, cluster: "rtm", answers: [{ said: "timeout" }, { said: ["MASTER", "MASTER"] }] },
  { agoMs: 4.9 * HOUR, cluster: "rtm", answers: both() },
  { agoMs: 3 * HOUR, cluster: "fra", answers: both({ blog: 503 }) },
  { agoMs: 3 * HOUR - 4 * MINUTE, cluster: "fra", answers: both() },
];

const AGO = 4 * MINUTE;
const SPLIT: Step = {
  agoMs: AGO,
  cluster: "ams",
  answers: [FIRST, { said: ["MASTER", "BACKUP"] }],
};
const DARK: Step = { agoMs: AGO, cluster: "par", answers: [{ said: "timeout" }, { said: "timeout" }] };
/** Nine problems in seven clusters. */
const TROUBLES: readonly Step[] = [
  SPLIT,
  DARK,
  { agoMs: AGO - 4000, cluster: "lon", answers: both({ shop: 503 }) },
  { agoMs: AGO - 7000, cluster: "waw", answers: [{ ...FIRST, statuses: { portal: 0 } }, SECOND_ONE] },
  { agoMs: AGO - 9000, cluster: "sin", answers: both({ blog: 500, api: 500 }) },
  { agoMs: AGO, cluster: "muc", answers: [FIRST, { said: "auth" }] },
  { agoMs: AGO, cluster: "ber", answers: [FIRST, { ...SECOND_ONE, statuses: { docs: 503 } }] },
];

/** What a picture or a test shows. */
export const SITUATIONS = {
  well: [],
  trouble: TROUBLES,
  split: [SPLIT],
  dark: [DARK],
  planned: [
    { agoMs: AGO, cluster: "rtm", answers: DARK.answers },
    { agoMs: AGO, cluster: "ams", answers: [FIRST, { said: "timeout" }] },
  ],
  started: [],
} as const satisfies Readonly<Record<string, readonly Step[]>>;
export type Situation = keyof typeof SITUATIONS;

const WINDOWS: readonly MaintenanceWindow[] = [
  windowOn("fw", ["waf-ams-2"], [], "firmware 4.6", "Jan", 4),
  windowOn("rack", [], ["rtm"], "Rack move", undefined, 25),
];

function windowOn(
  id: string,
  appliances: readonly string[],
  clusters: readonly string[],
  comment: string,
  by: string | undefined,
  minutes: number,
): MaintenanceWindow {
  const scope = { appliances, clusters, labels: {} };
  const [beginMs, endMs] = [PLAYED_MS - 6 * MINUTE, PLAYED_MS + minutes * MINUTE];
  return { id, scope, beginMs, endMs, comment, by, origin: "command" };
}

export interface PlayedFleet {
  readonly document: FleetDocument;
  readonly timelines: Strips;
}

/** Plays a day of a fleet of pairs, with two groups and ten websites each, through the exporter's own judge and history. */
export async function playFleet(situation: Situation, size = NAMES.length): Promise<PlayedFleet> {
  const lengthMs = situation === "started" ? 8 * SECOND : 21 * HOUR;
  let nowMs = PLAYED_MS - lengthMs;
  const startMs = nowMs;
  const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs - startMs };
  const { logger } = createLog("error", "json", STDERR_FD);
  const timelines = createTimelines();
  const listener = createRecorder({
    version: "1.2.3",
    shard: formatShard(WHOLE_FLEET),
    clock,
    logger,
    onRecord: timelines.read,
    journal: undefined,
  });
  const fleet = createFleet();
  const names = Array.from({ length: size }, (_, nth) => NAMES[nth] ?? `site-${nth}`);
  const websites = SITES.map((name, nth) => websiteOf({ id: nth + 1, name }));
  const appliances = names.flatMap((cluster, nth) =>
    [1, 2].map((member) => {
      const labels = { region: REGIONS[nth % REGIONS.length] ?? "", tier: nth % 5 === 0 ? "1" : "2" };
      return applianceOf({ name: `waf-${cluster}-${member}`, cluster, isAlone: false, labels, websites });
    }),
  );
  const windows = situation === "planned" ? WINDOWS : [];
  const board = createStatusBoard({
    version: "1.2.3",
    shard: WHOLE_FLEET,
    fleet,
    self: createSelfMetrics({ version: "1.2.3", build: BUILD, shard: WHOLE_FLEET }, () => 0),
    logger,
    clock,
    listener,
    restored: { memories: new Map(), ongoing: new Map(), incidents: [] },
    windows: { covering: () => windows.filter(({ beginMs }) => beginMs <= nowMs), coming: () => [] },
    runner: {
      confirm: () => {},
      replan: () => {},
      nextPollMs: () => clock.monotonicMs() + 3 * SECOND,
    },
  });

  function poll(cluster: string, answers: Step["answers"]): void {
    const nth = names.indexOf(cluster);
    for (const [index, { said, statuses = {} }] of answers.entries()) {
      const name = `waf-${cluster}-${index + 1}`;
      const given = {
        completedAtMs: nowMs,
        sentAtMs: clock.monotonicMs() - 43,
        durationSeconds: 0.043,
        expiresAtMs: Number.POSITIVE_INFINITY,
      };
      if (typeof said === "string") {
        board.observed(failed.vrrp(name, said, given));
        for (const { id } of websites)
          board.observed(failed.website(name, id, said === "auth" ? "auth" : "appliance_down", given));
        continue;
      }
      const interfaces = said.map((state, group) =>
        interfaceOf({
          name: `carp${group}`,
          vhid: group + 1,
          vip: group === 0 ? `192.0.2.${249 - (nth % 240)}` : `2001:db8:${(nth + 248).toString(16)}::100`,
          state,
          priority: index === 0 ? 200 : 100,
          device: `eth${group + 1}`,
          configuredRole: index === 0 ? "master" : "backup",
        }),
      );
      board.observed(seen.vrrp(name, listOf(interfaces), given));
      for (const { id, name: site } of websites) {
        const status = statuses[site] ?? 200;
        const found: WebsiteBlock = { protocol: "https", status };
        const blocks: readonly WebsiteBlock[] =
          site === "blog" ? [{ protocol: "http", status: status === 200 ? 301 : status }, found] : [found];
        board.observed(seen.website(name, id, blocks, given));
      }
    }
  }

  fleet.configure(configOf(...appliances), 0);
  // Right after a start some are not polled yet.
  const polled = situation === "started" ? names.slice(0, POLLED) : names;
  for (const cluster of polled) poll(cluster, both());
  const known = new Map(polled.map((cluster) => [cluster, both()]));
  const steps = [...(situation === "started" ? [] : DAY), ...SITUATIONS[situation]];
  for (const { agoMs, cluster, answers } of steps.toSorted((one, other) => other.agoMs - one.agoMs)) {
    if (!names.includes(cluster)) continue;
    // The poll before, and those that prove it.
    nowMs = PLAYED_MS - agoMs - 5000;
    poll(cluster, known.get(cluster) ?? both());
    known.set(cluster, answers);
    for (const laterMs of [0, 1000, 6000, 11_000, 31_000]) {
      nowMs = PLAYED_MS - agoMs + laterMs;
      poll(cluster, answers);
    }
  }
  nowMs = PLAYED_MS - 2000;
  for (const [cluster, answers] of known) poll(cluster, answers);
  nowMs = PLAYED_MS;
  const document = await board.document();
  timelines.read({ at: instantOf(PLAYED_MS), kind: "alive" });
  return { document, timelines: { ...timelines, damages: () => [] } };
}
