import { expect, test } from "vitest";
import type { IncidentDocument } from "../../../src/exporter/document/schema.ts";
import { readFilter } from "../../../src/exporter/page/view/filter.ts";
import { incidentHistory } from "../../../src/exporter/page/view/incidents.ts";
import { ago, FAILED_OVER, HAPPENED, incident, manyIncidents } from "./documents.ts";
import { READER, textOf } from "./reading.ts";

/** The markup of the list for the query of an address. */
const historyOf = (incidents: readonly IncidentDocument[], query = "", opened: readonly string[] = []) => {
  const filter = readFilter(new URLSearchParams(query));
  return incidentHistory(incidents, ago(86_400), { ...READER, opened: new Set(opened), filter });
};

const itemsIn = ({ text }: { readonly text: string }) =>
  [...text.matchAll(/<li data-level="(\w+)".*?<\/li>/gs)].map(
    ([item, level]) => `${level}: ${textOf({ text: item })}`,
  );

const SINCE = "What happened since the exporter started, Nov 20 12:00";

test("each incident has its sign, begin, state, cluster and sentence, and is calm when it is over", () => {
  expect(itemsIn(historyOf(HAPPENED))).toEqual([
    "critical: 11:56 ams Critical Website shop is down: https 503 from ams-1, https no HTTP response from ams-2 not over",
    "well: 10:53 rtm rtm-2 took over 192.0.2.100 (vhid 1) from rtm-1, which stopped answering (timeout). " +
      "No known master for at most 5 s over after 5 min",
    "well: 10:53 rtm rtm-1 is down: it does not answer in time (timeout) over after 6 min",
  ]);
});

test("an incident that is planned says so", () => {
  expect(itemsIn(historyOf([incident("reboot", "appliance_down", 60, { isPlanned: true })]))).toEqual([
    "planned: 11:59 ams Planned reboot happened not over",
  ]);
});

test("the address of an incident opens it, with what happened meanwhile, and links keep the filter", () => {
  const { text } = historyOf(HAPPENED, "cluster=rtm&incident=failover");
  const [body = ""] = /<dl.*<\/dl>/s.exec(text) ?? [];
  expect(textOf({ text: body })).toBe(
    "Began 2026-11-21 10:53:20 UTC Concerns 192.0.2.100 (vhid 1) From rtm-1 To rtm-2 " +
      "Cause Silent: the former master stopped answering, as after a crash, a reset or a cut of its management network " +
      "Evidence 2026-11-21 10:53:18 UTC: rtm-1 stopped answering (timeout) No known master for at most 5 s " +
      "Over 2026-11-21 10:58:20 UTC when each group has one master and a known backup Links This incident Cluster rtm Runbook: VrrpFailover " +
      "Meanwhile 2026-11-21 10:53:18 UTC: rtm-1 is down: it does not answer in time (timeout)",
  );
  expect(body).toContain('<a href="?cluster=rtm&#38;incident=silence#incident-silence">');
  expect(text.match(/aria-current/g)).toHaveLength(1);
});

test("without incidents the page says since when the exporter knows of them", () => {
  expect(textOf(historyOf([]))).toBe(SINCE);
});

test("eight incidents are shown, and the reader can open the others", () => {
  const all = manyIncidents(200);
  expect(itemsIn(historyOf(all))).toHaveLength(8);
  expect(textOf(historyOf(all))).toContain("192 earlier incidents");
  expect(itemsIn(historyOf(all, "", ["earlier-incidents"]))).toHaveLength(200);
});

test.each([
  ["its own id", "down-150"],
  ["the id that its second switch had", "second"],
])("an earlier incident is shown and open at an address with %s", (_, id) => {
  const repeated = { count: 3, periodSeconds: 20, includes: "second" };
  const all = manyIncidents(200).map((each) =>
    each.id === "down-150" ? { ...each, failover: { ...FAILED_OVER, repeated } } : each,
  );
  const history = historyOf(all, `incident=${id}`);
  expect(itemsIn(history)).toHaveLength(9);
  expect(history.text).toContain('<details id="incident-down-150" open>');
  expect(textOf(history)).toContain("Repeated 3 times, on average every 20 s");
});

test("the page says so if the exporter does not know the incident of an address", () => {
  const sentence =
    "The exporter does not know the incident of this address: it has started since then, or the incident is too old.";
  expect(textOf(historyOf([], "incident=gone"))).toBe(`${SINCE} ${sentence}`);
  expect(textOf(historyOf(HAPPENED, "incident=shop"))).not.toContain(sentence);
});

test("a link to another incident has only the beginning of a long sentence", () => {
  const long = incident("long", "website_down", 60, { summary: "x".repeat(2000) });
  const { text } = historyOf([incident("here", "failover", 60, { meanwhile: [long] })], "incident=here");
  expect(text).toContain(`${"x".repeat(159)}…</a>`);
});
