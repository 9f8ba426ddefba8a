import { expect, test } from "vitest";
import type { DocumentFacts } from "../../../src/exporter/document/document.ts";
import type { ApplianceConfig } from "../../../src/exporter/config/config.ts";
import type { FailureReason } from "../../../src/exporter/api/failure.ts";
import type { Observation } from "../../../src/exporter/polling/observation.ts";
import { fleetOf } from "../fleet/support.ts";
import {
  applianceOf,
  blocksOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
  websiteOf,
} from "../../support/observations.ts";
import { createJudge, documentOf } from "./support.ts";

/**
 * The sentence about each trouble and the advice, as the page, the terminal, the JSON and the pager have them. A pair is ams-1 and ams-2;
 * ams-1 is the preferred MASTER of two VIPs. Read them aloud.
 */
const WEBSITES = ["api", "portal", "shop", "blog"].map((name, nth) => websiteOf({ id: nth + 1, name }));
const LASTING = { expiresAtMs: 1e12 };
const certificate = {
  notAfterSeconds: WALL_MS / 1000 + 1e7,
  subject: "CN=ams-1",
  issuer: "CN=Lab",
  sha256: "",
  endingSigner: {
    role: "intermediate",
    subject: "CN=Lab",
    notAfterSeconds: WALL_MS / 1000 + 86_400,
  },
} as const;

function membersOf(number: number, websites: ApplianceConfig["websites"] = WEBSITES.slice(2, 3)) {
  return Array.from({ length: number }, (_, nth) =>
    applianceOf({ name: `ams-${nth + 1}`, cluster: "ams", websites }),
  );
}

/** The two VIPs in this state. */
function says(name: string, state: string, given: Parameters<typeof seen.vrrp>[2] = {}): Observation {
  const role = name === "ams-1" ? "master" : "backup";
  const interfaces = [100, 101].map((last) =>
    interfaceOf({ name: `carp${last}`, vhid: last, vip: `192.0.2.${last}`, state, configuredRole: role }),
  );
  return seen.vrrp(name, listOf(interfaces), { ...LASTING, ...given });
}

function finds(name: string, id: number, status: number, text?: string): Observation {
  const block = { protocol: "https", status } as const;
  return seen.website(name, id, [text === undefined ? block : { ...block, text }], LASTING);
}

const hangs = (name: string, id: number): Observation => failed.website(name, id, "timeout", LASTING);
const silent = (name: string, reason: FailureReason = "timeout"): Observation =>
  failed.vrrp(name, reason, LASTING);

const WELL = [
  says("ams-1", "MASTER"),
  says("ams-2", "BACKUP"),
  finds("ams-1", 3, 200),
  finds("ams-2", 3, 200),
];

const UNREADABLE = { protocol: "https", status: undefined, text: 'unreadable "HTTP/1.1 2000"' } as const;

interface Case {
  readonly event: string;
  readonly members?: readonly ApplianceConfig[];
  /** What is found first; default: all is well. */
  readonly first?: readonly Observation[];
  /** What is found then, twice. */
  readonly next?: readonly Observation[];
  readonly facts?: Partial<DocumentFacts>;
  readonly summary: string;
  readonly advice: string;
}

const NOBODY = membersOf(2, []);

test.each<Case>([
  {
    event: "split brain",
    next: [says("ams-2", "MASTER"), says("ams-1", "MASTER")],
    summary: "ams-1 and ams-2 are both MASTER of 192.0.2.100 and 1 more VIP",
    advice: "Visitors reach one of them by chance: fix the link between them, or stop VRRP on one",
  },
  {
    event: "no master",
    next: [says("ams-1", "BACKUP"), says("ams-2", "BACKUP")],
    summary: "Nobody is MASTER of 192.0.2.100 and 1 more VIP",
    advice: "Visitors reach nothing there: look at the interfaces of ams-1 and ams-2",
  },
  {
    event: "master not known, certificate",
    next: [silent("ams-1", "tls")],
    summary:
      "ams-1, MASTER of 192.0.2.100 and 1 more VIP until 22:13:20 UTC, is not polled: " +
      "its certificate is not trusted, or TLS fails (tls)",
    advice:
      "Visitors may be well: try 192.0.2.100 and 192.0.2.101, then make ams-1 and ams-2 answer the exporter",
  },
  {
    event: "master not known, another certificate",
    next: [
      {
        ...silent("ams-1", "tls"),
        outcome: { ok: false, failure: { reason: "tls", code: "not_pinned", message: "" } },
      },
    ],
    summary:
      "ams-1, MASTER of 192.0.2.100 and 1 more VIP until 22:13:20 UTC, shows another certificate (renewed?)",
    advice:
      "Visitors may be well: try 192.0.2.100 and 192.0.2.101, then make ams-1 and ams-2 answer the exporter",
  },
  {
    event: "master not known, unreadable",
    next: [seen.vrrp("ams-1", listOf([], { unreadable: ["carp100", "carp101"] }), LASTING)],
    summary: "ams-1, MASTER of 192.0.2.100 and 1 more VIP until 22:13:20 UTC, reports what cannot be read",
    advice:
      "Visitors may be well: try 192.0.2.100 and 192.0.2.101, then make ams-1 and ams-2 answer the exporter",
  },
  {
    event: "backup not known, unreadable",
    next: [seen.vrrp("ams-2", listOf([], { unreadable: ["carp100", "carp101"] }), LASTING)],
    summary:
      "ams-1 is MASTER of 192.0.2.100 and 1 more VIP, and it is not known whether it has a backup: " +
      "what a member reports cannot be read",
    advice:
      "Visitors are served: make each of ams-1 and ams-2 answer the exporter, to know whether one would take over",
  },
  {
    event: "website down at the master",
    next: [finds("ams-1", 3, 503)],
    summary: "shop is down for visitors: 503 from ams-1, MASTER. ams-2 finds it up",
    advice: "A failover would bring it back",
  },
  {
    event: "website down everywhere",
    next: [finds("ams-1", 3, 503), finds("ams-2", 3, 503)],
    summary: "shop is down: 503 from ams-1, MASTER, and ams-2",
    advice: "Look behind the appliances: at its servers, and at what it shares with others that are down",
  },
  {
    event: "all websites",
    members: membersOf(2, WEBSITES),
    first: [
      ...WELL.slice(0, 2),
      ...WEBSITES.flatMap(({ id }) => [finds("ams-1", id, 200), finds("ams-2", id, 200)]),
    ],
    next: WEBSITES.flatMap(({ id }) => [
      finds("ams-1", id, 0, "connection refused"),
      finds("ams-2", id, 0, "connection refused"),
    ]),
    summary:
      "4 of 4 websites are down, no HTTP response (connection refused) from ams-1, MASTER, and ams-2: api, portal, shop and 1 more",
    advice: "Look for what they share: the master, its uplink, a name server, a server behind them",
  },
  {
    event: "website hangs",
    next: [hangs("ams-1", 3), hangs("ams-2", 3)],
    summary: "shop is not known to be up: no answer in time from ams-1, MASTER, and ams-2",
    advice: "Try its URL: a website that hangs looks like this",
  },
  {
    event: "one protocol is not known",
    members: membersOf(2, [websiteOf({ id: 3, name: "shop", protocols: ["http", "https"] })]),
    first: [
      ...WELL.slice(0, 2),
      ...["ams-1", "ams-2"].map((name) => seen.website(name, 3, blocksOf(200, 200), LASTING)),
    ],
    next: ["ams-1", "ams-2"].map((name) =>
      seen.website(name, 3, [{ protocol: "http", status: 200 }, UNREADABLE], LASTING),
    ),
    summary:
      'shop is up, and not known to be up by https: https not known: unreadable "HTTP/1.1 2000" from ams-1, MASTER, and ams-2',
    advice: "Visitors are served by the other protocol: try its URL by this one",
  },
  {
    event: "backup lost",
    next: [silent("ams-2")],
    summary:
      "ams-1 is MASTER of 192.0.2.100 and 1 more VIP without a backup: ams-2 does not answer in time (timeout)",
    advice: "The next failure is an outage: bring the backup back",
  },
  {
    event: "not ready",
    next: [finds("ams-2", 3, 503)],
    summary: "If ams-1 fails, shop https is lost: 503 at ams-2",
    advice: "It can wait for the day: fix it at the member that would take over",
  },
  {
    event: "cluster dark",
    next: [silent("ams-1"), silent("ams-2")],
    summary: "Neither ams-1 nor ams-2 is reached (timeout)",
    advice:
      "Try 192.0.2.100 and 192.0.2.101 first: if a website answers there, only the management network is cut",
  },
  {
    event: "refused",
    next: [silent("ams-2", "auth")],
    summary: "ams-2 refuses the exporter's password (auth). Nobody watches it, its cluster has a MASTER",
    advice: "Check the user, its permissions on the appliance, and the password",
  },
  {
    event: "INIT of a third",
    members: membersOf(3, []),
    first: [...WELL.slice(0, 2), says("ams-3", "BACKUP")],
    next: [says("ams-3", "INIT")],
    summary: "ams-3 reports INIT for 192.0.2.100 and 1 more VIP: it would not take over",
    advice: "It would not take over: look at the interfaces of ams-3",
  },
  {
    event: "certificate ends",
    members: NOBODY,
    next: [says("ams-1", "MASTER", { certificate })],
    summary: "The intermediate CN=Lab of ams-1 ends on 2023-11-15: polls fail then, unless it is pinned",
    advice: "Renew it before that day: the exporter refuses it from then on",
  },
  {
    event: "blind",
    members: membersOf(4, []),
    first: [1, 2, 3, 4].map((nth) => says(`ams-${nth}`, nth === 1 ? "MASTER" : "BACKUP")),
    next: [silent("ams-2"), silent("ams-3"), silent("ams-4")],
    summary: "The exporter reaches 1 of 4 appliances: they do not answer in time (timeout)",
    advice: "Look at this exporter's own network first: what follows is what it sees from there",
  },
  {
    event: "reload",
    facts: { reloadFailedAtMs: WALL_MS + 7_200_000, loadedAtMs: WALL_MS },
    summary: "The exporter runs on the configuration of 2023-11-14 22:13 UTC: the new one has an error",
    advice: "Run `check` on the configuration: its errors name the places",
  },
  {
    event: "storage",
    facts: { storageFailure: { detail: "ENOSPC: no space left on device, write", sinceMs: WALL_MS } },
    summary: "The exporter cannot write its journal: no space left on device",
    advice: "Polls and alerts go on, and what happens now is not remembered: look at the disk and the folder",
  },
  {
    event: "late",
    next: [says("ams-2", "BACKUP", { durationSeconds: 3.9 })],
    facts: { late: { operation: "vrrp", count: 9, meanSeconds: 4, sinceMs: WALL_MS } },
    summary: "Polls of VRRP lists start late, by 4.0 s on average; the slowest appliance is ams-2 (3.9 s)",
    advice: "States are older than they should be: look for slow appliances, and at the load of this host",
  },
  {
    event: "an appliance that stands alone serves nothing",
    members: [applianceOf({ name: "lone" })],
    first: [says("lone", "MASTER")],
    next: [says("lone", "FAULT")],
    summary: "lone reports FAULT for 192.0.2.100 and 1 more VIP: it serves nothing there",
    advice: "No visitor reaches it there, and it takes nothing over: look at this interface",
  },
])("$event: $summary", ({ members = membersOf(2), first = WELL, next = [], facts, summary, advice }) => {
  const [fleet, judge] = [fleetOf(members, first), createJudge()];
  documentOf(fleet, {}, 0, judge);
  for (const atMs of [5000, 10_000]) {
    for (const observation of next) fleet.record(observation, atMs);
    documentOf(fleet, {}, atMs, judge);
  }
  const { problems } = documentOf(fleet, facts, 10_000, judge);
  expect(problems[0]).toMatchObject({ summary, advice });
  expect(problems.filter((each) => each.summary.includes("_"))).toEqual([]);
});
