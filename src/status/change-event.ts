import type { FleetChange } from "../fleet/changes.ts";
import type { Failure } from "../client/failure.ts";
import type { Gathering } from "./event-log.ts";
import type { FleetEvent } from "./schema.ts";
import { groupName, reasonInWords, statusText } from "./words.ts";

/** An event as people are told of it; `gathering` where many websites may have the same. */
type Told = Pick<FleetEvent, "kind" | "summary"> & { readonly gathering?: Gathering };
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
      return failingEvent({ appliance, website }, change.failure);
    case "recovered":
      return ofTest({ appliance, website }, "recovery", ["works", "work"], " again");
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

const SAME = { kind: "change", what: "changed", all: "changed" } as const;
const UP = { kind: "recovery", what: "is up", all: "are up" } as const;
const DOWN = { kind: "outage", what: "is down", all: "are down" } as const;

function websiteEvent(appliance: string, change: ChangeOf<"website_status">): Told {
  const { website, protocol, wasUp, isUp } = change;
  const { kind, what, all } = wasUp === isUp ? SAME : isUp ? UP : DOWN;
  const codes = `${statusText(change.from)} → ${statusText(change.to)}`;
  const seen = `as seen from ${appliance}: ${protocol} ${codes}`;
  const summary = (websites: number) => `${websites} websites ${all} ${seen}`;
  return {
    kind,
    summary: `Website ${website} ${what} ${seen}`,
    gathering: { websites: [website], summary },
  };
}

/** Nothing of a test that was not sent: its appliance is told of. */
function failingEvent(subject: Subject, { reason }: Failure): Told | undefined {
  return reason === "appliance_down"
    ? undefined
    : ofTest(subject, "outage", ["fails", "fail"], `: ${reasonInWords(reason)}`);
}

function ofTest(
  { appliance, website }: Subject,
  kind: Told["kind"],
  [does, doAll]: readonly [string, string],
  rest: string,
): Told {
  if (website === undefined) return { kind, summary: `Polling of ${appliance} ${does}${rest}` };
  const summary = (websites: number) => `The tests of ${websites} websites from ${appliance} ${doAll}${rest}`;
  return {
    kind,
    summary: `The test of website ${website} from ${appliance} ${does}${rest}`,
    gathering: { websites: [website], summary },
  };
}
