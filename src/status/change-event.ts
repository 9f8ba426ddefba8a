import type { FleetChange } from "../fleet/changes.ts";
import type { Failure } from "../polling/failure.ts";
import type { FleetEvent } from "./schema.ts";
import { groupName, reasonInWords, statusText } from "./words.ts";

type Told = Pick<FleetEvent, "kind" | "summary">;
type ChangeOf<Kind extends FleetChange["kind"]> = Extract<FleetChange, { kind: Kind }>;

/** What was polled. */
export interface Subject {
  readonly appliance: string;
  /** Its name, of a website test alone. */
  readonly website: string | undefined;
}

/** A change of an appliance as people are told of it; nothing where something else tells them. */
export function changeEvent({ appliance, website }: Subject, change: FleetChange): Told | undefined {
  switch (change.kind) {
    case "vrrp_state": {
      const { interface: name, from, to } = change;
      return {
        kind: stateKind(change),
        summary: `${appliance}, ${name} of ${groupName(change)}: ${from} → ${to}`,
      };
    }
    case "website_status":
      return websiteEvent(appliance, change);
    case "failing":
      return failingEvent(subjectOf(appliance, website), change.failure);
    case "recovered":
      return recoveredEvent(subjectOf(appliance, website), change.from);
    case "anomalies":
      return undefined;
    default:
      return change satisfies never;
  }
}

const GOOD_STATES: ReadonlySet<string> = new Set(["MASTER", "BACKUP"]);

/** Whether an interface was and is what it should be, MASTER or BACKUP: that is the business of its group. */
export function isBetweenGoodStates({ from, to }: ChangeOf<"vrrp_state">): boolean {
  return GOOD_STATES.has(from) && GOOD_STATES.has(to);
}

function stateKind(change: ChangeOf<"vrrp_state">): Told["kind"] {
  if (isBetweenGoodStates(change)) return "failover";
  if (GOOD_STATES.has(change.to)) return "recovery";
  return GOOD_STATES.has(change.from) ? "outage" : "change";
}

const SAME = { kind: "change", what: "changed" } as const;
const UP = { kind: "recovery", what: "is up" } as const;
const DOWN = { kind: "outage", what: "is down" } as const;

function websiteEvent(appliance: string, change: ChangeOf<"website_status">): Told {
  const { website, protocol, wasUp, isUp } = change;
  const { kind, what } = wasUp === isUp ? SAME : isUp ? UP : DOWN;
  const codes = `${statusText(change.from)} → ${statusText(change.to)}`;
  return { kind, summary: `Website ${website} ${what} as seen from ${appliance}: ${protocol} ${codes}` };
}

function failingEvent(subject: string, { reason }: Failure): Told | undefined {
  if (reason === "appliance_down") return undefined;
  return {
    kind: "outage",
    summary: `${subject} fails: ${reasonInWords(reason)}`,
  };
}

function recoveredEvent(subject: string, from: Failure): Told | undefined {
  if (from.reason === "appliance_down") return undefined;
  return { kind: "recovery", summary: `${subject} works again` };
}

function subjectOf(appliance: string, website: string | undefined): string {
  return website === undefined
    ? `Polling of ${appliance}`
    : `The test of website ${website} from ${appliance}`;
}
