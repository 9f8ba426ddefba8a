import { expect, test } from "vitest";
import { clusterIn, subjectIn, type RecordSubject } from "../../../src/history/journal/record.ts";

const at = "2026-11-26T12:00:00.000Z";
const ODD = 'a","vip":"b\\"\u0001\u2028';

const SUBJECTS: readonly RecordSubject[] = ["ams", ODD].flatMap((cluster): RecordSubject[] => [
  { kind: "cluster", cluster },
  { kind: "appliance", cluster, appliance: "a" },
  { kind: "readiness", cluster, appliance: "a" },
  { kind: "appliance", cluster, appliance: ODD },
  { kind: "group", cluster, vhid: 2, vip: "192.0.2.100" },
  { kind: "group", cluster, vhid: 2, vip: ODD },
  { kind: "group", cluster, vhid: 22, vip: "192.0.2.100" },
  { kind: "website", cluster, id: 1, name: "shop", protocol: "http" },
  { kind: "website", cluster, id: 1, name: ODD, protocol: "https" },
  { kind: "website", cluster, id: 1, name: "shop", protocol: "" },
]);

function lineOf(subject: RecordSubject, said: object): string {
  return JSON.stringify({ at, ...subject, ...said });
}

test("lines about one subject have the same key, and no others have it", () => {
  const keys = SUBJECTS.map((subject) => [
    subjectIn(lineOf(subject, { state: "up" })),
    subjectIn(lineOf(subject, { address: "shop.example.org:443", state: "down", since: at })),
  ]);
  for (const [one, other] of keys) expect(one).toBe(other);
  expect(new Set(keys.flat())).toHaveLength(SUBJECTS.length);
});

test("the name of a cluster is in each line about one", () => {
  const names = SUBJECTS.map((subject) => clusterIn(lineOf(subject, { state: "up" })));
  expect(names).toEqual(SUBJECTS.map(({ cluster }) => cluster));
});

test.each([
  ["a mark", '{"at":"2026-11-26T12:00:00.000Z","kind":"alive"}'],
  [
    "members in another order",
    `{"at":"${at}","kind":"appliance","appliance":"a","cluster":"ams","state":"up"}`,
  ],
  ["a kind that is not known", `{"at":"${at}","kind":"pool","cluster":"ams","state":"up"}`],
  ["a name that is no JSON", `{"at":"${at}","kind":"cluster","cluster":"a\tb\\x","state":"up"}`],
  ["zeros before it", `\0\0{"at":"${at}","kind":"cluster","cluster":"ams","state":"up"}`],
  ["no end", `{"at":"${at}","kind":"cluster","cluster":"ams","state":"u`],
])("a line with %s has no key", (_, line) => {
  expect(subjectIn(line)).toBeUndefined();
});
