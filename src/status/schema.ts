import { z } from "zod";
import { FAILURE_REASONS } from "../client/failure.ts";
import {
  APPLIANCE_STATES,
  BACKEND_STATES,
  CLUSTER_STATES,
  GROUP_STATES,
  PROBLEM_KINDS,
  WEBSITE_STATES,
} from "./severity.ts";
import { DIFFERENCES } from "./judge-website.ts";

const instant = z.iso.datetime();
const labels = z.record(z.string(), z.string());
const websiteRef = z.object({ id: z.int(), name: z.string() });
const groupRef = z.object({ vhid: z.int(), vip: z.string().describe("canonical text") });

const since = instant
  .optional()
  .describe("when this state began; absent where the exporter did not see the beginning");

const poll = z
  .object({
    state: z.enum(["pending", "succeeded", "failed"]).describe("pending: not polled yet"),
    reason: z.enum(FAILURE_REASONS).optional().describe("while it fails"),
    message: z.string().optional().describe("while it fails, in words"),
    failingSince: instant.optional().describe("when the first of the failures in a row ended"),
    lastSuccessAt: instant.optional().describe("kept through failures"),
    durationSeconds: z.number().optional(),
    nextPollAt: instant.optional().describe("absent where none is planned"),
  })
  .describe("how the latest poll of an operation went");

const vrrpInterface = z.object({
  name: z.string(),
  ...groupRef.shape,
  state: z.string().describe("as reported"),
  priority: z.int().optional(),
  device: z.string(),
  lastTransitionAt: instant.optional(),
});

const websiteStatus = z.object({
  protocol: z.enum(["http", "https"]),
  status: z.int().describe("0: the appliance got no HTTP response"),
  isUp: z.boolean().describe("whether the status is among those expected"),
  text: z
    .string()
    .optional()
    .describe("why there was no HTTP response, in the words of the appliance; cut, redacted"),
});

const applianceWebsite = z.object({
  ...websiteRef.shape,
  poll,
  statuses: z.array(websiteStatus).optional().describe("absent while they are not known"),
});

const appliance = z.object({
  name: z.string(),
  labels,
  state: z
    .enum(APPLIANCE_STATES)
    .optional()
    .describe(
      "as appliance_state: refused: 401 or 403; unknown: a fault of the exporter; absent before the first poll",
    ),
  since,
  poll: poll.describe("of the VRRP list"),
  interfaces: z.array(vrrpInterface).optional().describe("absent while they are not known"),
  websites: z.array(applianceWebsite),
  discovery: z
    .object({
      list: poll.describe("of the list of websites"),
      details: poll
        .optional()
        .describe(
          "of the details of all websites together: a failure of one is a failure; absent without websites",
        ),
    })
    .optional()
    .describe("absent where its websites are not discovered"),
});

const member = z.object({
  appliance: z.string(),
  role: z
    .enum(["master", "backup", "other", "unknown"])
    .describe("other: it reports a state that is neither"),
  priority: z.int().optional().describe("absent while it is not known"),
});

const group = z.object({
  ...groupRef.shape,
  state: z
    .enum(GROUP_STATES)
    .optional()
    .describe("as vrrp_group_state; absent where a disabled appliance may be the master"),
  master: z.string().optional().describe("the one known master"),
  since: since.describe(
    "when this state began under this master; absent where the exporter did not see the beginning",
  ),
  isPreferredMaster: z.boolean().optional().describe("whether the one master is the preferred member"),
  members: z.array(member),
});

const websiteState = z.object({
  protocol: z.enum(["http", "https"]).optional().describe("absent while no protocol of the website is known"),
  state: z.enum(WEBSITE_STATES).describe("as website_state"),
  since,
});

const website = z.object({
  ...websiteRef.shape,
  ids: z
    .record(z.string(), z.int())
    .optional()
    .describe("its id at each appliance that tests it; absent where all of them do, with the same id"),
  states: z.array(websiteState).describe("by protocol; empty before the first test"),
});

const discovered = z.object({
  ...websiteRef.shape,
  address: z
    .string()
    .describe("host and port, with a number where several websites of an appliance have the same"),
  state: z
    .enum(BACKEND_STATES)
    .optional()
    .describe("of the servers behind it, as website_backends_state; absent while it is not known"),
  differences: z.array(z.enum(DIFFERENCES)).describe("what the members of the cluster do not agree on"),
  at: z
    .record(
      z.string(),
      z.object({
        id: z.int(),
        isEnabled: z.boolean().optional(),
        mode: z.enum(["pass", "protect", "detect"]).optional(),
        backends: z
          .array(
            z.object({
              address: z.string(),
              role: z.enum(["active", "backup", "down"]).optional(),
              isOk: z.boolean().optional(),
            }),
          )
          .optional(),
      }),
    )
    .describe("what each appliance says of it, by the appliance's name; what is not known is absent"),
});

const cluster = z.object({
  name: z.string(),
  labels: labels.describe("the configured labels that all members share"),
  state: z.enum(CLUSTER_STATES).optional().describe("as ha_cluster_state; absent before the first poll"),
  groups: z.array(group).describe("none for an appliance that stands alone"),
  websites: z.array(website).describe("those that any of its appliances tests"),
  discovered: z
    .object({ websites: z.array(discovered) })
    .optional()
    .describe("what the appliances say of their websites; absent where they are not discovered"),
  appliances: z.array(appliance),
});

const problem = z.object({
  kind: z.enum(PROBLEM_KINDS),
  severity: z.enum(["critical", "warning", "unknown"]),
  summary: z.string().describe("one sentence"),
  cluster: z.string().optional(),
  appliance: z.string().optional(),
  website: websiteRef.optional(),
  group: groupRef.optional().describe("the first of the groups that it concerns"),
  since: since.describe("absent where the exporter did not see the beginning"),
});

const event = z.object({
  at: instant,
  kind: z.enum(["failover", "outage", "recovery", "change"]).describe("change: neither better nor worse"),
  summary: z.string(),
  cluster: z.string(),
});

/**
 * The document that `/api/v1/fleet` serves and the status page and the `status` command show: what is true of the fleet
 * now, worst first. Instants are RFC 3339 in UTC. What is not known is absent, never a value that looks like one.
 */
export const fleetDocumentSchema = z.object({
  verdict: z
    .enum(["well", "wrong", "unknown"])
    .describe(
      "wrong: there are critical problems or warnings; unknown: there are none, and not everything is known",
    ),
  exporter: z.object({
    version: z.string(),
    startedAt: instant,
    shard: z.object({
      /** From 0. */
      index: z.int(),
      total: z.int(),
    }),
  }),
  problems: z.array(problem).describe("worst first"),
  clusters: z
    .array(cluster)
    .describe(
      "in the order of the configuration; an appliance on its own is a cluster of one, named like it",
    ),
  events: z.array(event).describe("since the exporter started, latest first, bounded"),
});

export type FleetDocument = z.infer<typeof fleetDocumentSchema>;
export type ClusterDocument = z.infer<typeof cluster>;
export type GroupDocument = z.infer<typeof group>;
export type ApplianceDocument = z.infer<typeof appliance>;
export type PollDocument = z.infer<typeof poll>;
export type Problem = z.infer<typeof problem>;
export type FleetEvent = z.infer<typeof event>;

/** The form of what `/api/v1/fleet` serves as JSON Schema, draft 2020-12. */
export function formatFleetSchema(): string {
  const { $schema, ...schema } = z.toJSONSchema(fleetDocumentSchema, {
    io: "input",
    target: "draft-2020-12",
  });
  return `${JSON.stringify({ $schema, title: "The fleet, as /api/v1/fleet serves it", ...schema }, null, 2)}\n`;
}
