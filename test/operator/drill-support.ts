import type { WebsiteConfig } from "../../src/exporter/config/config.ts";
import type { MaintenanceWindow } from "../../src/exporter/maintenance/window.ts";
import type { FleetDocument } from "../../src/exporter/document/schema.ts";
import { WHOLE_FLEET } from "../../src/exporter/config/shard.ts";
import { fleetDocument } from "../../src/exporter/document/document.ts";
import { createPast } from "../../src/exporter/story/past.ts";
import { fleetOf, MEMBER_A, MEMBER_B, MEMBER_C, pollsOf } from "../exporter/fleet/support.ts";
import { createJudge } from "../exporter/judge/support.ts";
import { WALL_MS, websiteOf } from "../support/observations.ts";

const SHOP = websiteOf({ id: 2, name: "shop", protocols: ["https"] });
const MEMBERS = [MEMBER_A, MEMBER_B, MEMBER_C];

/** The document of the fleet after each second with polls, by the real judge. @see pollsOf */
export function documentsOf(
  words: string,
  websites: readonly WebsiteConfig[] = [SHOP],
  windows: readonly MaintenanceWindow[] = [],
): readonly { readonly fleet: FleetDocument; readonly atMs: number }[] {
  const named = MEMBERS.filter(({ name }) => name !== "c" || /\bc /.test(words));
  const members = named.map((each) => ({ ...each, websites }));
  const [fleet, judging, past] = [fleetOf(members), createJudge(windows), createPast()];
  const documents = pollsOf(words).map(({ observation, atMs }) => {
    const { changes, cluster } = fleet.record(observation, atMs);
    if (cluster === undefined) throw new Error("the appliance is configured");
    const at = { wallMs: WALL_MS + atMs, monotonicMs: atMs };
    const { appliance, sinceMs } = observation;
    const { before, now } = judging.judge(cluster, at, { appliance, changes, sinceMs });
    if (now.incidents !== before?.incidents) past.add(now.incidents.news);
    return { atMs, fleet: fleetDocument([now], { ...FACTS, incidents: past.list() }) };
  });
  return documents.filter(({ atMs }, nth) => documents[nth + 1]?.atMs !== atMs);
}

const FACTS = {
  version: "1.2.3",
  shard: WHOLE_FLEET,
  startedAtMs: WALL_MS - 60_000,
  reloadFailedAtMs: undefined,
  loadedAtMs: 0,
  storageFailure: undefined,
  late: undefined,
  nextPollAtMs: () => undefined,
  coming: [],
};
