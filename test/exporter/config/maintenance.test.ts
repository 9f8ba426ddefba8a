import { expect, test } from "vitest";
import { configOf, errorsOf } from "./folder.ts";

const FLEET = `clusters:
  - { name: ams, labels: { site: north }, appliances: [{ name: a, base_url: https://a }, { name: b, base_url: https://b }] }
appliances: [{ name: lone, base_url: https://lone, labels: { site: south }, enabled: false }]
maintenance:
`;
const TIME = 'schedule: "0 0 2 * * 0", timezone: Europe/Amsterdam, duration: 2h';

test("windows have a name, a comment, what they cover and when", async () => {
  const { maintenance } = await configOf(`${FLEET}
  - { name: patch night, clusters: [ams], ${TIME} }
  - { name: south, comment: " the southern site ", appliances: [lone], labels: { site: south }, ${TIME} }
  - { name: utc, clusters: [ams], schedule: "0 0 2 * * 0", duration: 2h }
`);
  const when = { schedule: "0 0 2 * * 0", timezone: "Europe/Amsterdam", durationMs: 7_200_000 };
  expect(maintenance).toEqual([
    {
      name: "patch night",
      comment: "patch night",
      scope: { appliances: [], clusters: ["ams"], labels: {} },
      ...when,
    },
    {
      name: "south",
      comment: "the southern site",
      scope: { appliances: ["lone"], clusters: [], labels: { site: "south" } },
      ...when,
    },
    {
      name: "utc",
      comment: "utc",
      scope: { appliances: [], clusters: ["ams"], labels: {} },
      ...when,
      timezone: "UTC",
    },
  ]);
});

const LENGTH = "1 to 200 characters, none of them a control character or invisible";
const DURATION = "expected a duration shorter than the time between two occurrences";

test.each([
  [`clusters: [fra], ${TIME}`, "5:27: maintenance[0].clusters[0]: no such name; there are ams and lone"],
  [
    `clusters: [ams], appliances: [a, c], ${TIME}`,
    "5:49: maintenance[0].appliances[1]: no such name; there are a, b and lone",
  ],
  [`labels: { site: west }, ${TIME}`, "5:16: maintenance[0].labels: no appliance has these labels"],
  [
    `appliances: [], ${TIME}`,
    "5:5: maintenance[0]: expected at least one name in appliances, clusters or labels",
  ],
  [TIME, "5:5: maintenance[0]: expected at least one name in appliances, clusters or labels"],
  [
    'clusters: [ams], schedule: "0 0 2 * * 0", timezone: Europe/Amsterdan, duration: 2h',
    "5:58: maintenance[0].timezone: expected a time zone of the IANA database, such as Europe/Amsterdam; 'timedatectl list-timezones' lists them",
  ],
  [
    'clusters: [ams], schedule: "0 0 2 * * 0", timezone: "+02:00", duration: 2h',
    "5:58: maintenance[0].timezone: expected a time zone of the IANA database, such as Europe/Amsterdam; 'timedatectl list-timezones' lists them",
  ],
  [
    'clusters: [ams], schedule: "0 2 * * 0", timezone: UTC, duration: 2h',
    '5:33: maintenance[0].schedule: expected six fields, seconds first, such as "*/10 * * * * *", got 5',
  ],
  [
    'clusters: [ams], schedule: "0 0 2 * * 0", timezone: UTC, duration: 25h',
    "5:73: maintenance[0].duration: expected a duration of 1m to 24h, such as 1m30s",
  ],
  [`clusters: [ams], comment: "\\u0007", ${TIME}`, `5:33: maintenance[0].comment: expected ${LENGTH}`],
  [`clusters: [ams], comment: "\\uD800", ${TIME}`, `5:33: maintenance[0].comment: expected ${LENGTH}`],
  [`clusters: [ams], comment: " ", ${TIME}`, `5:33: maintenance[0].comment: expected ${LENGTH}`],
  [
    `clusters: [ams], comment: ${"x".repeat(201)}, ${TIME}`,
    `5:33: maintenance[0].comment: expected ${LENGTH}`,
  ],
  [
    `clusters: [ams], ${TIME} }\n  - { name: n, clusters: [ams], ${TIME}`,
    "6:7: maintenance[1].name: duplicate, also at config.yaml:5:7",
  ],
])("%s: %s", async (settings, error) => {
  expect(await errorsOf(`${FLEET}  - { name: n, ${settings} }\n`)).toEqual([`config.yaml:${error}`]);
});

test.each([
  ["0 0 2 * * *", "24h", false],
  ["0 0 2 * * *", "23h59m", true],
  ["0 0 2 * * 0", "24h", true],
  ["0 0 2,3 * * 0", "1h1m", false],
  ["0 0 * * * *", "1h", false],
  ["0 */10 * * * *", "1m", true],
])("%s for %s ends: %s", async (schedule, duration, ends) => {
  const text = `${FLEET}  - { name: n, clusters: [ams], schedule: "${schedule}", timezone: UTC, duration: ${duration} }\n`;
  const found = (await errorsOf(text)).map((error) => error.replace(/^.*duration: /, ""));
  expect(found).toEqual(ends ? [] : [DURATION]);
});
