import { expect, test } from "vitest";
import { CAUSES } from "../../../src/exporter/judge/states.ts";
import { hasId, incidentFacts, incidentState } from "../../../src/exporter/view/incident-facts.ts";
import { ago, FAILED_OVER, incident } from "../page/documents.ts";

test.each([
  [undefined, "not over"],
  [60, "over at once"],
  [59.001, "over at once"],
  [59, "over after 1 s"],
  [-3600, "over after 1 h 1 min"],
])("an incident that began 60 s ago and ended %s s ago is %s", (end, state) => {
  const given = end === undefined ? {} : { end: ago(end) };
  expect(incidentState(incident("one", "failover", 60, given))).toBe(state);
});

test("an outage has the websites, those that are left out, how long it lasted at most, and its end", () => {
  const given = { subjects: ["shop https", "blog http"], moreSubjects: 3, outageAtMostSeconds: 75.2 };
  expect(incidentFacts(incident("one", "website_down", 60, { ...given, end: ago(0) }))).toEqual([
    ["Concerns", "shop https", "blog http", "3 more"],
    ["Down", "for at most 76 s"],
    ["Over", "2026-11-21 12:00:00 UTC"],
  ]);
});

test("of several websites each has the time of its own outage, once it is known", () => {
  const [shop, blog, news] = ["shop", "blog", "news"].map((subject) => {
    return { key: `website https ${subject}`, subject, end: ago(1) };
  });
  if (shop === undefined || blog === undefined || news === undefined) throw new Error("three");
  const outages = [{ ...shop, atMostSeconds: 20 }, { ...blog, atMostSeconds: 75.2 }, news];
  const given = { subjects: ["shop", "blog", "news", "docs"], outages };
  expect(incidentFacts(incident("one", "website_down", 60, given))).toEqual([
    ["Concerns", "shop", "blog", "news", "docs"],
    ["Down", "shop for at most 20 s", "blog for at most 76 s"],
  ]);
});

test.each(CAUSES)(
  "a failover has its members and the cause %s in words, and nothing that is not known",
  (cause) => {
    const failover = { from: "a", to: "b", cause, evidence: [], addresses: 1, isPartial: false };
    expect(incidentFacts(incident("one", "failover", 60, { failover }))).toEqual([
      ["Concerns", "192.0.2.100 (vhid 1)"],
      ["From", "a"],
      ["To", "b"],
      ["Cause", expect.stringMatching(/^\w+( \w+)?: [a-z].*[a-z]$/)],
      ["Over", "when each group has one master and a known backup"],
    ]);
  },
);

test("a repeated failover has how often, who lets go, and of its latest switch evidence, time and what stayed", () => {
  const repeated = { count: 7, periodSeconds: 20.3, letsGo: "rtm-1", includes: "second" };
  const failover = { ...FAILED_OVER, isPartial: true, repeated };
  const flapping = incident("one", "failover", 60, { failover });
  expect(incidentFacts(flapping)).toEqual([
    ["Concerns", "192.0.2.100 (vhid 1)"],
    ["Repeated", "7 times, on average every 20 s", "rtm-1 lets go most often"],
    ["From", "rtm-1"],
    ["To", "rtm-2"],
    ["Cause", expect.stringMatching(/^Silent: the former master stopped answering, /)],
    ["Evidence", "2026-11-21 10:53:18 UTC: rtm-1 stopped answering (timeout)"],
    ["No known master", "for at most 5 s"],
    ["Other groups", "rtm-1 remained MASTER of others"],
    ["Over", "when each group has one master and a known backup"],
  ]);
  expect(["one", "second", "third", ""].map((id) => hasId(flapping, id))).toEqual([true, true, false, false]);
});
