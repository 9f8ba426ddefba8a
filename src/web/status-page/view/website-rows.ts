import type { ApplianceDocument, ClusterDocument } from "../../../status/schema.ts";
import { html, nothing, type Html } from "./html.ts";
import { emptyCell, row, stateCell } from "./row.ts";
import type { Standing } from "./standing.ts";
import { relative, relativeIfKnown, type Now } from "./time.ts";
import { distinct, enumerate } from "./words.ts";

type Website = ClusterDocument["websites"][number];
type ApplianceWebsite = ApplianceDocument["websites"][number];
type Status = NonNullable<ApplianceWebsite["statuses"]>[number];
type Protocol = Status["protocol"];

/** How one appliance sees one protocol of a website. */
interface View {
  readonly appliance: string;
  /** None where the appliance does not test it. */
  readonly website: ApplianceWebsite | undefined;
  /** None while it is not known. */
  readonly status: Status | undefined;
}

/** A row for each website and protocol: what is down everywhere is a whole row, what one alone sees is one cell. */
export function websiteRows({ websites, appliances }: ClusterDocument, nowMs: Now): readonly Html[] {
  return websites.flatMap((website) =>
    protocolsOf(website, appliances).map((protocol) =>
      websiteRow(website, protocol, viewsOf(website, protocol, appliances), nowMs),
    ),
  );
}

/** Those that any appliance knows of; `undefined` alone while none does. */
function protocolsOf(
  website: Website,
  appliances: readonly ApplianceDocument[],
): readonly (Protocol | undefined)[] {
  const seen = appliances.flatMap((appliance) => protocolsIn(testOf(website, appliance)));
  return seen.length === 0 ? [undefined] : distinct(seen).toSorted();
}

function protocolsIn(test: ApplianceWebsite | undefined): readonly Protocol[] {
  return [...(test?.statuses ?? []).map(({ protocol }) => protocol), ...(test?.unread ?? [])];
}

function testOf({ id }: Website, { websites }: ApplianceDocument): ApplianceWebsite | undefined {
  return websites.find((website) => website.id === id);
}

function viewsOf(
  website: Website,
  protocol: Protocol | undefined,
  appliances: readonly ApplianceDocument[],
): readonly View[] {
  return appliances.map((appliance) => {
    const test = testOf(website, appliance);
    const status = test?.statuses?.find((one) => one.protocol === protocol);
    return { appliance: appliance.name, website: test, status };
  });
}

function websiteRow(
  { id, name }: Website,
  protocol: Protocol | undefined,
  views: readonly View[],
  nowMs: Now,
): Html {
  const [standing, words] = judge(views, nowMs);
  return row({
    key: `${id} ${protocol ?? ""}`,
    title: html`${name} ${protocol === undefined ? nothing : html`<span class="aside">${protocol}</span>`}`,
    standing,
    words,
    cells: views.map((view) => viewCell(view, standing, nowMs)),
  });
}

/** What all appliances together say of it. */
function judge(views: readonly View[], nowMs: Now): readonly [Standing, Html] {
  const tests = views.filter(({ website }) => website !== undefined);
  const seen = tests.flatMap(({ appliance, status }) =>
    status === undefined ? [] : [{ appliance, ...status }],
  );
  const down = seen.filter(({ isUp }) => !isUp);
  const unknown = tests.length - seen.length;
  if (down.length === 0) return unknown === 0 ? ["well", nothing] : ["unknown", notKnown(seen.length)];
  const instants = down.flatMap(({ downSince }) => downSince ?? []).toSorted();
  // Down from all: since the last of them saw it go.
  const since = down.length === seen.length ? instants.at(-1) : instants[0];
  const age = relativeIfKnown("for", since, nowMs);
  if (down.length === tests.length && tests.length > 1) return ["critical", html`Down everywhere ${age}.`];
  if (down.length === seen.length)
    return ["critical", html`Down ${age}${unknown === 0 ? nothing : html`; not known from all`}.`];
  return ["warning", html`Down from ${enumerate(down.map(({ appliance }) => appliance))} only ${age}.`];
}

function notKnown(seen: number): Html {
  return seen === 0 ? html`Not known.` : html`Up where it is known.`;
}

function viewCell({ website, status }: View, whole: Standing, nowMs: Now): Html {
  if (website === undefined) return emptyCell("not tested from here");
  if (status === undefined) return unknownCell(website, nowMs);
  const code = status.status === 0 ? "no response" : String(status.status);
  if (status.isUp) return stateCell("well", code, html`up`);
  return stateCell(whole === "warning" ? "warning" : "critical", code, html`down`);
}

/** Why nothing is known: the test failed, was not made yet, or its answer holds nothing of this protocol. */
function unknownCell({ poll: { state, reason, failingSince } }: ApplianceWebsite, nowMs: Now): Html {
  if (state === "pending") return stateCell("unknown", "unknown", html`not tested yet`);
  if (reason === undefined) return stateCell("unknown", "unknown", html`not in the answer`);
  const since = failingSince === undefined ? nothing : relative("for", failingSince, nowMs);
  return stateCell("unknown", "unknown", html`${reason.replaceAll("_", " ")} ${since}`);
}
