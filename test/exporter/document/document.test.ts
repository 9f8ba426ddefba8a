import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import * as schema from "../../../src/exporter/document/schema.ts";
import { fleetOf, MEMBER_A, MEMBER_B, pollsOf } from "../fleet/support.ts";
import {
  applianceOf,
  configOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import type { Operation } from "../../../src/exporter/api/operation.ts";
import { createJudge, documentOf } from "../judge/support.ts";

const SHOP = websiteOf({ id: 2, name: "shop" });
const A = { ...MEMBER_A, labels: { site: "ams", rack: "r1" }, websites: [SHOP] };
const B = { ...MEMBER_B, labels: { site: "ams", rack: "r2" } };
const CERTIFICATE = {
  notAfterSeconds: 1_900_000_000,
  subject: "CN=a",
  issuer: "CN=authority",
  sha256: "00".repeat(32),
};

/** A fleet one of whose appliances is seen to fall silent. */
function seenDocument(): schema.FleetDocument {
  const [fleet, judge] = [fleetOf([A, B]), createJudge()];
  fleet.record(seen.vrrp("a", listOf([interfaceOf()]), { certificate: CERTIFICATE }), 0);
  fleet.record(seen.website("a", 2, [{ protocol: "https", status: 0, text: "connection refused" }]), 0);
  fleet.record(seen.vrrp("b", listOf([interfaceOf({ state: "BACKUP", configuredRole: "backup" })])), 0);
  documentOf(fleet, {}, 0, judge);
  fleet.record(failed.vrrp("b", "timeout"), 1000);
  const given = {
    nextPollAtMs: (_: string, { kind }: Operation) => (kind === "vrrp" ? WALL_MS + 5000 : undefined),
    incidents: INCIDENTS,
  };
  return documentOf(fleet, given, 1000, judge);
}

const INCIDENTS: schema.IncidentDocument[] = [
  {
    id: "aaaaaaaaaaaa",
    kind: "failover",
    severity: "warning",
    cluster: "ams",
    begin: "2023-11-14T22:13:20.000Z",
    summary: "it failed over",
    subjects: [],
    meanwhile: [],
  },
];
const DOCUMENT = seenDocument();

test("the document has all that is known, what is wrong first, and leaves out what is not known", () => {
  expect(JSON.parse(JSON.stringify(DOCUMENT))).toEqual({
    verdict: "wrong",
    exporter: { version: "1.2.3", shard: { index: 0, total: 1 }, startedAt: "2023-11-14T22:12:20.000Z" },
    planned: [],
    problems: [
      {
        kind: "website_down",
        severity: "critical",
        subject: "#2",
        summary: "shop is down: no HTTP response (connection refused) from a, MASTER",
        advice: "Look behind the appliances: at its servers, and at what it shares with others that are down",
        cluster: "ams",
        website: { id: 2, name: "shop" },
        keys: ["website https #2"],
      },
      {
        kind: "redundancy_lost",
        severity: "critical",
        summary: "a is MASTER of 192.0.2.100 without a backup: b does not answer in time (timeout)",
        subject: "ams",
        advice: "The next failure is an outage: bring the backup back",
        cluster: "ams",
        group: { vhid: 2, vip: "192.0.2.100" },
        keys: ["group 2 192.0.2.100"],
        since: "2023-11-14T22:13:21.000Z",
      },
      {
        kind: "appliance_down",
        severity: "warning",
        subject: "b",
        summary: "b is down: it does not answer in time (timeout)",
        advice:
          "Check that the appliance runs and no firewall drops its packets; if it is slow, raise the timeout in polling",
        cluster: "ams",
        appliance: "b",
        keys: ["appliance b"],
        since: "2023-11-14T22:13:21.000Z",
      },
    ],
    clusters: [
      {
        name: "ams",
        labels: { site: "ams" },
        state: "degraded",
        level: "critical",
        groups: [
          {
            vhid: 2,
            vip: "192.0.2.100",
            key: "group 2 192.0.2.100",
            state: "backup_lost",
            level: "critical",
            problem: "redundancy_lost",
            master: "a",
            members: [
              { appliance: "a", interfaces: ["carp0"], role: "master", level: "well", priority: 204 },
              { appliance: "b", interfaces: ["carp0"], role: "unknown", level: "unknown" },
            ],
            isPreferredMaster: true,
            since: "2023-11-14T22:13:21.000Z",
          },
        ],
        websites: [
          {
            id: 2,
            ids: { a: 2 },
            masters: ["a"],
            name: "shop",
            states: [{ protocol: "https", key: "website https #2", state: "down", level: "critical" }],
          },
        ],
        appliances: [
          {
            name: "a",
            key: "appliance a",
            ready: {
              verdict: "not_ready",
              summary:
                "If a fails, no appliance takes over 192.0.2.100 (vhid 2): b cannot be polled since 2023-11-14 22:13 UTC: it does not answer in time (timeout)",
            },
            labels: { site: "ams", rack: "r1" },
            state: "up",
            level: "well",
            failover: {
              key: "readiness a",
              state: "outage",
              level: "critical",
              since: "2023-11-14T22:13:21.000Z",
              summary:
                "If a fails, no appliance takes over 192.0.2.100 (vhid 2): b cannot be polled since 2023-11-14 22:13 UTC: it does not answer in time (timeout)",
              successors: [],
              addresses: 1,
              websites: 0,
              risks: [
                {
                  risk: "backup_lost",
                  effect: "outage",
                  level: "critical",
                  subject: "192.0.2.100",
                  keys: ["group 2 192.0.2.100"],
                  summary:
                    "no appliance takes over 192.0.2.100 (vhid 2): b cannot be polled since 2023-11-14 22:13 UTC: it does not answer in time (timeout)",
                  seenAt: "2023-11-14T22:13:20.000Z",
                },
              ],
            },
            poll: {
              state: "succeeded",
              level: "well",
              lastSuccessAt: "2023-11-14T22:13:20.000Z",
              durationSeconds: 0.25,
              nextPollAt: "2023-11-14T22:13:25.000Z",
            },
            interfaces: [
              {
                name: "carp0",
                key: 'interface "a" carp0, 192.0.2.100 (vhid 2)',
                vhid: 2,
                vip: "192.0.2.100",
                state: "MASTER",
                level: "well",
                priority: 204,
                device: "eth1",
              },
            ],
            websites: [
              {
                id: 2,
                name: "shop",
                poll: {
                  state: "succeeded",
                  level: "well",
                  lastSuccessAt: "2023-11-14T22:13:20.000Z",
                  durationSeconds: 0.25,
                },
                statuses: [
                  {
                    protocol: "https",
                    status: 0,
                    isUp: false,
                    level: "critical",
                    text: "connection refused",
                  },
                ],
              },
            ],
          },
          {
            name: "b",
            key: "appliance b",
            ready: {
              verdict: "unknown",
              summary: "If b fails, it is not known what is lost: it does not answer in time (timeout)",
            },
            labels: { site: "ams", rack: "r2" },
            state: "down",
            level: "warning",
            since: "2023-11-14T22:13:21.000Z",
            poll: {
              state: "failed",
              level: "warning",
              reason: "timeout",
              message: "canned timeout",
              failingSince: "2023-11-14T22:13:20.000Z",
              lastSuccessAt: "2023-11-14T22:13:20.000Z",
              durationSeconds: 0.25,
              nextPollAt: "2023-11-14T22:13:25.000Z",
            },
            websites: [],
          },
        ],
      },
    ],
    incidents: INCIDENTS,
  });
});

test("the document keeps to its schema, with nothing that the schema lacks", () => {
  expect(schema.fleetDocumentSchema.parse(DOCUMENT)).toEqual(DOCUMENT);
});

test("an appliance that stands alone is a cluster of one, with its own labels", () => {
  const lone = applianceOf({ name: "lone", labels: { site: "fra" } });
  const [cluster] = documentOf(fleetOf([lone], [seen.vrrp("lone", listOf([interfaceOf()]))])).clusters;
  expect(cluster).toMatchObject({ name: "lone", labels: { site: "fra" }, groups: [], masterless: undefined });
});

test.each([
  ["well", [seen.vrrp("lone", listOf([]))]],
  ["unknown", []],
  ["wrong", [failed.vrrp("lone", "connect")]],
] as const)("the verdict is %s", (verdict, polls) => {
  expect(documentOf(fleetOf([applianceOf({ name: "lone" })], polls)).verdict).toBe(verdict);
});

test("the verdict about no appliances, and about disabled ones, is unknown", () => {
  expect(documentOf(fleetOf([])).verdict).toBe("unknown");
  expect(documentOf(fleetOf([{ ...MEMBER_A, enabled: false }])).verdict).toBe("unknown");
});

test("a disabled appliance is shown, and a group whose master it may be is unknown, not well", () => {
  const fleet = fleetOf([MEMBER_A, { ...MEMBER_B, enabled: false }]);
  const documentWith = (state: string) => {
    fleet.record(seen.vrrp("a", listOf([interfaceOf({ state })])), 0);
    return documentOf(fleet);
  };
  const { verdict, problems, clusters } = documentWith("BACKUP");
  expect(clusters[0]?.masterless).toEqual({
    verdict: "unknown",
    summary: "ams: it is not known which appliance is MASTER of 192.0.2.100 (vhid 2)",
  });
  expect(clusters[0]?.appliances[1]).toEqual({
    name: "b",
    key: "appliance b",
    ready: {
      verdict: "unknown",
      summary: "If b fails, it is not known what is lost: it is disabled, so it is not polled",
    },
    labels: {},
    state: "disabled",
    level: "unknown",
    websites: [],
  });
  expect(clusters[0]?.groups[0]).toMatchObject({ state: "unwatched", level: "unknown" });
  expect([verdict, clusters[0]?.level]).toEqual(["unknown", "unknown"]);
  expect(problems.map(({ summary }) => summary)).toEqual([
    "Who is MASTER of 192.0.2.100 is not known: it may be an appliance that nobody polls",
  ]);
  expect(documentWith("MASTER").verdict).toBe("well");
});

test("a stale state is not shown as if it were known", () => {
  const [cluster] = documentOf(
    fleetOf([applianceOf({ name: "lone" })], [seen.vrrp("lone", listOf([interfaceOf()]))]),
    {},
    14_000,
  ).clusters;
  expect(cluster?.appliances[0]).toMatchObject({ poll: { state: "failed", reason: "stalled" } });
  expect(cluster?.appliances[0]?.interfaces).toBeUndefined();
});

test("docs/fleet.schema.json is what the schema generates", async () => {
  const file = new URL("../../../docs/fleet.schema.json", import.meta.url);
  expect(await readFile(file, "utf8")).toBe(schema.formatFleetSchema());
});

test("nobody knows since when a cluster has had its state whose members were all disabled before", () => {
  const pair = [MEMBER_A, MEMBER_B];
  const fleet = fleetOf(pair.map((each) => ({ ...each, enabled: false })));
  const judging = createJudge();
  documentOf(fleet, {}, 0, judging);
  fleet.configure(configOf(...pair), 0);
  for (const { observation } of pollsOf("a MASTER 1, b BACKUP 1")) fleet.record(observation, 1000);
  const [cluster] = documentOf(fleet, {}, 1000, judging).clusters;
  expect(cluster?.groups).toMatchObject([{ state: "one_master", since: undefined }]);
});
