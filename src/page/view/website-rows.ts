import type { ApplianceDocument, ClusterDocument } from "../../status/schema.ts";
import { html, nothing, type Html } from "./html.ts";
import type { Level } from "./levels.ts";
import { emptyCell, relative, row, stateCell } from "./parts.ts";
import type { Reader } from "./reader.ts";
import { distinct, enumerate } from "./words.ts";

type Website = ClusterDocument["websites"][number];
type ApplianceWebsite = ApplianceDocument["websites"][number];
type Status = NonNullable<ApplianceWebsite["statuses"]>[number];
type Protocol = Status["protocol"];

/** How one appliance sees one protocol of a website. */
interface View {
  readonly appliance: string;
  /** Absent if the appliance does not test it. */
  readonly website: ApplianceWebsite | undefined;
  /** Absent while it is not known. */
  readonly status: Status | undefined;
}

/** A row for each website and protocol. Down everywhere is a whole row; down from one appliance is one cell. */
export function websiteRows({ websites, appliances }: ClusterDocument, reader: Reader): readonly Html[] {
  return websites.flatMap((website) =>
    protocolsOf(website, appliances).map((protocol) =>
      websiteRow(website, protocol, viewsOf(website, protocol, appliances), reader),
    ),
  );
}

/** The protocols that any appliance knows; `[undefined]` while none does. */
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
  { name }: Website,
  protocol: Protocol | undefined,
  views: readonly View[],
  reader: Reader,
): Html {
  const [level, words] = judge(views, reader);
  return row({
    title: html`${name} ${protocol === undefined ? nothing : html`<span class="aside">${protocol}</span>`}`,
    level,
    words,
    cells: views.map((view) => viewCell(view, level, reader)),
  });
}

/** The level that follows from all appliances. */
function judge(views: readonly View[], reader: Reader): readonly [Level, Html] {
  const tests = views.filter(({ website }) => website !== undefined);
  const seen = tests.flatMap(({ appliance, status }) =>
    status === undefined ? [] : [{ appliance, ...status }],
  );
  const down = seen.filter(({ isUp }) => !isUp);
  const unknown = tests.length - seen.length;
  if (down.length === 0) return unknown === 0 ? ["well", nothing] : ["unknown", notKnown(seen.length)];
  const instants = down.flatMap(({ downSince }) => downSince ?? []).toSorted();
  // Down from all appliances since the last of them saw it fail.
  const since = down.length === seen.length ? instants.at(-1) : instants[0];
  const age = since === undefined ? nothing : relative("for", since, reader);
  if (down.length === tests.length && tests.length > 1) return ["critical", html`Down everywhere ${age}.`];
  if (down.length === seen.length)
    return ["critical", html`Down ${age}${unknown === 0 ? nothing : html`; not known from all`}.`];
  return ["warning", html`Down from ${enumerate(down.map(({ appliance }) => appliance))} only ${age}.`];
}

function notKnown(seen: number): Html {
  return seen === 0 ? html`Not known.` : html`Up where it is known.`;
}

function viewCell({ website, status }: View, whole: Level, reader: Reader): Html {
  if (website === undefined) return emptyCell("not tested from here");
  if (status === undefined) return unknownCell(website, reader);
  const code = status.status === 0 ? "no response" : String(status.status);
  if (status.isUp) return stateCell("well", code, html`up`);
  return stateCell(whole === "warning" ? "warning" : "critical", code, html`down`);
}

/** Why nothing is known: the test failed, did not run yet, or its answer lacks this protocol. */
function unknownCell({ poll: { state, reason, failingSince } }: ApplianceWebsite, reader: Reader): Html {
  if (state === "pending") return stateCell("unknown", "unknown", html`not tested yet`);
  if (reason === undefined) return stateCell("unknown", "unknown", html`not in the answer`);
  const since = failingSince === undefined ? nothing : relative("for", failingSince, reader);
  return stateCell("unknown", "unknown", html`${reason.replaceAll("_", " ")} ${since}`);
}
