import { z } from "zod";
import { FAILURE_REASONS } from "../api/failure.ts";
import { keysOf } from "../../support/keys.ts";
import {
  CAUSES,
  EFFECTS,
  INCIDENT_KINDS,
  LEVELS,
  PROBLEM_KINDS,
  PROBLEM_OF,
  RISK_KINDS,
} from "../judge/states.ts";

/** Returns an optional type. An unknown value is absent. */
function optional<Type extends z.ZodType>(type: Type, description: string): z.ZodOptional<Type> {
  return type.optional().describe(description);
}

const level = z.enum(LEVELS).describe("how well it is: that of the worst problem that it is part of");
const instant = z.iso.datetime();
const since = optional(instant, "when this state began; absent where the exporter did not see the beginning");
const key = z.string();
const ownKey = optional(
  key,
  "identifies it in its cluster, in the `keys` of risks, problems and incidents; absent from an older exporter",
);
const labels = z.record(z.string(), z.string());
const protocol = z.enum(["http", "https"]);
const websiteRef = z.object({ id: z.int(), name: z.string() });
const address = { vhid: z.int(), vip: z.string().describe("canonical text") };
const groupRef = z.object({
  ...address,
  interface: optional(
    z.string(),
    "an interface on its link; absent unless several groups of the cluster have this VHID and VIP",
  ),
});

const poll = z
  .object({
    state: z.enum(["pending", "succeeded", "failed"]).describe("pending: not polled yet"),
    level,
    reason: optional(z.enum(FAILURE_REASONS), "while it fails"),
    message: optional(z.string(), "while it fails, in words"),
    failingSince: optional(instant, "when the first of the failures in a row ended"),
    lastSuccessAt: optional(instant, "kept through failures"),
    durationSeconds: z.number().optional(),
    nextPollAt: optional(instant, "absent where none is planned"),
  })
  .describe("how the latest poll of an operation went");

const vrrpInterface = z.object({
  name: z.string(),
  ...address,
  state: z.string().describe("as reported"),
  level,
  priority: z.int().optional(),
  device: z.string(),
  key: ownKey,
  lastTransitionAt: instant.optional(),
});

const websiteStatus = z.object({
  protocol,
  status: z.int().describe("0: the appliance got no HTTP response"),
  isUp: z.boolean().describe("whether the status is among those expected"),
  level,
  text: optional(z.string(), "why there was no HTTP response, in the words of the appliance; cut, redacted"),
});

const uncertainStatus = z.object({
  protocol,
  text: z
    .string()
    .describe("why the status is not certain; what it quotes of the answer is cut and redacted"),
});

const applianceWebsite = z.object({
  ...websiteRef.shape,
  poll,
  statuses: optional(z.array(websiteStatus), "absent while they are not known"),
  uncertain: optional(
    z.array(uncertainStatus),
    "the protocols whose status in the latest answer is not certain; absent if none",
  ),
});

const discovery = z.object({
  list: poll.describe("of the list of websites"),
  details: optional(
    poll,
    "of the details of all websites together: a failure of one is a failure; absent without websites",
  ),
});

const risk = z.object({
  risk: z.enum(RISK_KINDS),
  effect: z
    .enum(EFFECTS)
    .describe(
      "what it means for visitors; none: nothing, or another BACKUP with a higher priority takes over",
    ),
  level,
  successor: optional(z.string(), "the BACKUP that it concerns; absent where it is not about one of them"),
  subject: z.string().describe("an address, or a website and its protocol; all: all interfaces or websites"),
  keys: optional(
    z.array(key),
    "of the group or the website by each protocol that it concerns; empty for all; absent from an older exporter",
  ),
  summary: z.string().describe("in words"),
  seenAt: optional(instant, "of the older of the answers from which it follows; absent where one is missing"),
});

const readiness = z.object({
  key: ownKey,
  state: z.enum(keysOf(PROBLEM_OF.readiness)).describe("as appliance_failover_state"),
  level,
  since,
  summary: z.string().describe("one sentence"),
  successors: z.array(z.string()).describe("the appliances that would take over"),
  addresses: z.int().describe("how many VIPs and aliases it is MASTER of"),
  websites: z.int().describe("how many websites it serves at these"),
  leftOut: optional(z.int(), "how many of its websites the configuration excludes, and are not compared"),
  risks: z.array(risk).describe("worst first, at most 50, and those of windows"),
  moreRisks: optional(z.int(), "how many `risks` leaves out; absent if none"),
});

const answer = {
  verdict: z
    .enum(["ready", "not_ready", "unknown"])
    .describe(
      "not_ready: something is lost, or another member is worked on; unknown: something that is not known may be lost",
    ),
  summary: z.string().describe("one sentence"),
};
const ready = z.object({
  ...answer,
  apart: optional(
    z.object({
      windows: z.array(z.string()).describe("their ids"),
      ...answer,
      verdict: answer.verdict.default("ready"),
    }),
    "the windows of planned work on other members, and the answer without them",
  ),
});

const appliance = z.object({
  name: z.string(),
  key: ownKey,
  labels,
  state: optional(
    z.enum([...keysOf(PROBLEM_OF.appliance), "disabled"]),
    "as appliance_state: refused: it answers, but not as it should; unknown: not known, by a fault outside of it; disabled: not polled; absent before the first poll, and while no poll is scheduled",
  ),
  level,
  since,
  poll: optional(poll, "of the VRRP list; absent for a disabled appliance"),
  interfaces: optional(z.array(vrrpInterface), "absent while they are not known"),
  unreadableInterfaces: optional(
    z.int(),
    "how many others its VRRP list has that cannot be read; absent if none",
  ),
  websites: z.array(applianceWebsite),
  discovery: optional(discovery, "absent where its websites are not discovered"),
  failover: optional(
    readiness,
    "what happens if it stops now; absent if it is MASTER of nothing, and beside a disabled member",
  ),
  ready: optional(
    ready,
    "whether visitors lose nothing if it stops now, as the command `ready` says; absent from an older exporter",
  ),
});

const role = z.enum(["master", "backup", "other", "unknown"]);
const member = z.object({
  appliance: z.string(),
  interfaces: z.array(z.string()).describe("the names of its interfaces in the group"),
  role: role.describe("other: it reports a state that is neither"),
  level,
  priority: optional(z.int(), "absent while it is not known"),
});

const group = z.object({
  ...groupRef.shape,
  key: ownKey,
  state: optional(
    z.enum(keysOf(PROBLEM_OF.group)),
    "as vrrp_group_state; absent before the members on which it depends were polled",
  ),
  level,
  problem: optional(
    z.enum(PROBLEM_KINDS),
    "what is wrong with it, also where `problems` omits that; absent if nothing is",
  ),
  master: optional(z.string(), "the one known master"),
  masters: optional(
    z.array(z.string()),
    "the known masters where there are several, also of its addresses under another VHID",
  ),
  since: optional(
    instant,
    "when this state began under this master; absent where the exporter did not see the beginning",
  ),
  isPreferredMaster: optional(z.boolean(), "whether the one master is the preferred member"),
  members: z.array(member),
});

const websiteState = z.object({
  protocol: optional(protocol, "absent while no protocol of the website is known"),
  key: ownKey,
  state: z.enum(keysOf(PROBLEM_OF.website)).describe("as website_state"),
  level,
  since,
});

const website = z.object({
  ...websiteRef.shape,
  ids: optional(
    z.record(z.string(), z.int()),
    "its id at each appliance that tests it; absent where all of them do, with the same id",
  ),
  masters: optional(
    z.array(z.string()),
    "the appliances that serve it: the known masters of the addresses on which it listens; absent from an older exporter",
  ),
  states: z.array(websiteState).describe("by protocol; empty before the first test"),
});

const backend = z.object({
  address: z.string(),
  role: z.enum(["active", "backup", "down"]).optional(),
  isOk: z.boolean().optional(),
});

const description = z.object({
  id: z.int(),
  isEnabled: z.boolean().optional(),
  mode: z.enum(["pass", "protect", "detect"]).optional(),
  level,
  backends: z.array(backend).optional(),
  moreBackends: optional(z.int(), "how many servers `backends` leaves out; absent if none"),
});

const discovered = z.object({
  key: ownKey.describe(
    "identifies the servers behind it in its cluster, in the `keys` of risks and incidents; absent from an older exporter",
  ),
  ...websiteRef.shape,
  address: z
    .string()
    .describe("host and port, with a number where several websites of an appliance have the same"),
  state: optional(
    z.enum(keysOf(PROBLEM_OF.backends)),
    "of the servers behind it, as website_backends_state; absent while it is not known",
  ),
  level,
  at: z
    .record(z.string(), description)
    .describe("what each appliance says of it, by the appliance's name; what is not known is absent"),
});

const cluster = z.object({
  name: z.string(),
  labels: labels.describe("the configured labels that all members share"),
  state: optional(z.enum(keysOf(PROBLEM_OF.cluster)), "as ha_cluster_state; absent before the first polls"),
  level,
  groups: z.array(group).describe("none for an appliance that stands alone"),
  websites: z.array(website).describe("those that any of its appliances tests"),
  discovered: optional(
    z.object({ websites: z.array(discovered) }),
    "what the appliances say of their websites; absent where they are not discovered",
  ),
  appliances: z.array(appliance),
  masterless: optional(ready, "the answer about groups whose MASTER is not known; absent if there are none"),
});

const problem = z.object({
  kind: z.enum(PROBLEM_KINDS),
  severity: z.enum(["critical", "warning", "unknown"]),
  summary: z.string().describe("one sentence"),
  advice: optional(z.string(), "what to do, in one sentence; absent from an older exporter"),
  cluster: z.string().optional(),
  subject: optional(
    z.string(),
    "what it is about, which with the kind identifies it in its cluster: the appliance, the address of the website, or the cluster; absent " +
      "for problems of the exporter itself, and from an older exporter",
  ),
  appliance: z.string().optional(),
  website: websiteRef.optional(),
  group: optional(groupRef, "the first of the groups that it concerns"),
  keys: optional(
    z.array(key),
    "of what it concerns in the cluster, at most 100; absent if that is the whole fleet, and from an older exporter",
  ),
  isPlanned: z
    .boolean()
    .optional()
    .describe("true where planned work mutes its alert: it does not count; absent for all others"),
  since: optional(instant, "absent where the exporter did not see the beginning"),
  until: optional(instant, "of not_scheduled: when the first poll is scheduled that ends it"),
});

const evidence = z.object({
  appliance: z.string(),
  said: z.string().describe("what it did, in words"),
  at: instant.describe("when the exporter learned it"),
});

/** What is said of each failover. */
const ownFailover = {
  from: z.string(),
  to: z.string(),
  cause: z.enum(CAUSES).describe("the first of these of which there is evidence"),
  withoutMasterAboutSeconds: optional(
    z.number(),
    "about how long no member was MASTER: the middle of the possible times, if a former master stopped being MASTER when it stopped " +
      "answering; absent where it stopped more than 30 s before, or refused the exporter, and the time may be longer than 2 s",
  ),
  withoutMasterAtMostSeconds: optional(
    z.number(),
    "no member can have been MASTER for longer; absent where the former master was never seen as MASTER",
  ),
  addresses: z.int().describe("how many VIPs and aliases the new master has in the groups that it took over"),
  isPartial: z.boolean().describe("whether the former master remains MASTER of other groups"),
};

const oneOfMany = z.object({
  at: instant.describe("when the exporter learned it"),
  summary: z.string().describe("one sentence"),
  ...ownFailover,
  keys: optional(z.array(key), "of its groups, at most 100; absent where they are all of the incident"),
});

const repeated = z.object({
  count: z.int().describe("how often the members took over from each other"),
  planned: optional(z.int(), "how many of these followed from planned work; absent from an older exporter"),
  periodSeconds: z.number().describe("from one to the next, on average"),
  letsGo: optional(z.string(), "the member that lets go most often; absent where none does, or both"),
  includes: z.string().describe("the id of the incident that the second of them was at first"),
  each: optional(z.array(oneOfMany), "the latest eight of them, oldest first; absent from an older exporter"),
});

const failedOver = z.object({
  ...ownFailover,
  evidence: z.array(evidence).describe("oldest first; empty if the cause is unknown"),
  repeated: optional(repeated, "from the third failover within five minutes on"),
});

const plannedWork = z.object({
  id: z.string(),
  begin: instant,
  end: instant,
  comment: z.string(),
  by: optional(z.string(), "the user who started it; absent for a window of the configuration"),
  isDrill: z.boolean(),
  subjects: z.array(z.string()).describe("the first 24 clusters and appliances that are worked on"),
  moreSubjects: optional(z.int(), "how many `subjects` leaves out; absent if none"),
  masters: z
    .array(
      z.object({
        appliance: z.string(),
        addresses: z.int(),
        masters: optional(z.array(z.string()), "all known masters of them, where there are several"),
      }),
    )
    .describe(
      "the first 24 appliances that are to be handed over first, and how many addresses each is MASTER of",
    ),
});

const comingWork = plannedWork.pick({ id: true, begin: true, end: true, comment: true }).extend({
  subjects: z.array(z.string()).describe("the first 24 clusters and appliances that will be worked on"),
});

const incidentRef = z.object({
  id: z.string().describe("of the page of the incident: /?incident=ID"),
  kind: z.enum(INCIDENT_KINDS),
  begin: instant.describe("when the exporter learned it"),
  summary: z.string().describe("one sentence"),
});

const outage = z.object({
  key,
  subject: z.string().describe("as in `subjects`"),
  begin: optional(instant, "when the exporter learned that it was down; absent from an older exporter"),
  end: instant.describe("when the website was not down any more"),
  aboutSeconds: optional(
    z.number(),
    "about how long it was down: from the middle between the last sign that a master served it and the first that none did, to the middle " +
      "between the last two polls; absent where nobody knows when a master last served it, or whether one does again",
  ),
  atMostSeconds: optional(
    z.number(),
    "at most how long it was down: from the latest test of a master that found it up to the first that did again; absent like `aboutSeconds`",
  ),
});

/** An incident without other incidents at the same time, which depend on the whole list. */
export const knownIncident = z.object({
  ...incidentRef.shape,
  severity: z.enum(["critical", "warning"]),
  isPlanned: optional(
    z.boolean(),
    "true where planned work mutes the alert about it, or did when it was over; absent for all others",
  ),
  cluster: z.string(),
  end: optional(
    instant,
    "absent while it is not over; a failover is over when its groups have a backup and websites are as before",
  ),
  subjects: z.array(z.string()).describe("the first 24 groups, websites, appliances or interfaces"),
  moreSubjects: optional(z.int(), "how many `subjects` leaves out; absent if none"),
  outageAboutSeconds: optional(
    z.number(),
    "of websites, when all are up again: the longest of `outages`; absent where one of them is not known",
  ),
  outageAtMostSeconds: optional(z.number(), "like `outageAboutSeconds`"),
  outages: optional(
    z.array(outage),
    "of websites: the outages of the named ones that are not down any more; absent if none",
  ),
  failover: optional(failedOver, "of a failover, the latest one if it is repeated"),
});

const incident = knownIncident.extend({
  keys: optional(
    z.array(key),
    "of all subjects in the same order, at most 100; absent where an earlier run of the exporter reported it",
  ),
  meanwhile: z
    .array(incidentRef)
    .describe("what else began in the cluster within a minute of it, latest first, at most 8"),
});

/**
 * The document that `/api/v1/fleet` serves and the status page and the `status` command show: the present state of the fleet, worst first.
 * Instants are RFC 3339 in UTC. An unknown value is absent, and never replaced by another value.
 */
export const fleetDocumentSchema = z.object({
  verdict: z
    .enum(["well", "wrong", "unknown"])
    .describe(
      "wrong: there are critical problems or warnings that are not planned; unknown: there are none, and not everything is known",
    ),
  exporter: z.object({
    version: z.string(),
    startedAt: instant,
    shard: z.object({ index: z.int(), total: z.int() }),
  }),
  planned: z.array(plannedWork).describe("work that goes on now, by its end"),
  coming: optional(
    z.array(comingWork),
    "the next window of each entry of the configuration that has not begun, by its begin; absent if there is none, and from an older exporter",
  ),
  problems: z.array(problem).describe("worst first, behind them those that are planned"),
  clusters: z
    .array(cluster)
    .describe(
      "in the order of the configuration; an appliance on its own is a cluster of one, named like it",
    ),
  incidents: z
    .array(incident)
    .describe("since the exporter started, with a journal also those before; latest first, bounded"),
});

export type FleetDocument = z.infer<typeof fleetDocumentSchema>;
export type ClusterDocument = z.infer<typeof cluster>;
export type GroupDocument = z.infer<typeof group>;
export type ApplianceDocument = z.infer<typeof appliance>;
export type ReadyDocument = z.infer<typeof ready>;
export type ReadinessDocument = z.infer<typeof readiness>;
export type PollDocument = z.infer<typeof poll>;
export type ProblemDocument = z.infer<typeof problem>;
export type PlannedDocument = z.infer<typeof plannedWork>;
export type ComingDocument = z.infer<typeof comingWork>;
export type IncidentDocument = z.infer<typeof incident>;
export type KnownIncident = z.infer<typeof knownIncident>;

/** Returns the schema of the JSON that `/api/v1/fleet` serves, as JSON Schema, draft 2020-12. */
export function formatFleetSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(fleetDocumentSchema, { io: "input" });
  return `${JSON.stringify({ $schema, title: "The fleet, as /api/v1/fleet serves it", ...schema }, null, 2)}\n`;
}
