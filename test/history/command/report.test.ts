import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/program/program.ts";
import type { Io } from "../../../src/exporter/command/command.ts";
import { formatRecord, type JournalRecord, type WindowRecord } from "../../../src/history/journal/record.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createFolder, type Files } from "../../exporter/config/folder.ts";
import { alive, failedOver, group, readiness, run, website } from "../report/records.ts";
import { createTestIo } from "../../support/io.ts";

const DAY = 86_400;

function linesOf(records: readonly JournalRecord[]): string {
  return records.map((record) => `${formatRecord(record)}\n`).join("");
}

const SHOP = "=shop,<b>";

/** From noon of 24 October 2026 on; the exporter was away for an hour when clocks in Amsterdam were set back. */
const JOURNAL: Files = {
  "2026-10-24.jsonl.gz": gzipSync(
    linesOf([
      run(23.5 * DAY, "start"),
      group(23.5 * DAY, "one_master"),
      website(23.5 * DAY, "up", SHOP),
      readiness(23.5 * DAY, "ready", "a"),
      alive(24 * DAY),
    ]),
  ),
  "2026-10-25.jsonl": linesOf([
    run(24 * DAY, "day"),
    group(24 * DAY, "one_master"),
    website(24 * DAY, "up", SHOP),
    readiness(24 * DAY, "ready", "a"),
    alive(24 * DAY + 1800),
    run(24 * DAY + 5400, "start"),
    group(24 * DAY + 5402, "one_master"),
    readiness(24 * DAY + 5402, "ready", "a"),
    website(24 * DAY + 5404, "up", SHOP),
    alive(25 * DAY),
  ]),
  "2026-10-26.jsonl": linesOf([run(25 * DAY, "day"), alive(26 * DAY)]),
  "2026-10-27.jsonl": linesOf([run(26 * DAY, "day"), alive(27 * DAY)]),
  "2026-10-28.jsonl": linesOf([
    run(27 * DAY, "day"),
    failedOver(27 * DAY, "one", { summary: "b took over from a" }),
    readiness(27 * DAY, "gone", "a"),
    readiness(27 * DAY, "losses", "b"),
    group(27 * DAY, "changing"),
    website(27 * DAY, "down", SHOP),
    group(27 * DAY + 3, "no_master"),
    group(27 * DAY + 5, "one_master"),
    website(27 * DAY + 72.25, "partially_down", SHOP),
    alive(28 * DAY),
  ]),
  "2026-10-29.jsonl": linesOf([run(28 * DAY, "day"), alive(29 * DAY)]),
  "2026-10-30.jsonl": linesOf([run(29 * DAY, "day"), alive(30 * DAY)]),
  "2026-10-31.jsonl": `${linesOf([
    { ...run(30 * DAY, "day"), left: 2 },
    group(30 * DAY, "one_master"),
    website(30 * DAY, "partially_down", SHOP),
    readiness(30 * DAY, "losses", "b"),
    alive(31 * DAY),
  ])}{"at":"2026-11-01T00:00`,
};

/** Runs the command; in what it prints, `DIR` is the folder of the journal. */
async function report(
  files: Files,
  flags: readonly string[],
  now = "2026-11-26T00:00:00.000Z",
  fields: Partial<Io> = {},
) {
  const folder = await createFolder(files);
  const { io, printed } = await createTestIo({
    clock: { ...systemClock, wallMs: () => Date.parse(now) },
    ...fields,
  });
  const code = await runProgram(["report", ...flags, `--storage.path=${folder}`], io);
  return { code, out: printed.out.replaceAll(folder, "DIR"), err: printed.err.replaceAll(folder, "DIR") };
}

const AMSTERDAM = ["--month=2026-10", "--timezone=Europe/Amsterdam"];

/** The columns of the CSV that say which month it is, without what follows them. */
const MONTH = '"2026-10","Europe/Amsterdam","2026-09-30T22:00:00.000Z","2026-10-31T23:00:00.000Z"';

test("the CSV has a line for each cluster, group and website", async () => {
  expect(await report(JOURNAL, [...AMSTERDAM, "--output=csv"])).toEqual({
    code: 0,
    err: "",
    out: [
      '\uFEFF"month","time_zone","from","to","kind","cluster","vip","vhid","website_id","website","protocol","up_ms","down_ms","unknown_ms","planned_ms","availability","split_brain_ms","no_master_ms","ready","known_since","gone_since","ready_ms","not_ready_ms","no_answer_ms","not_watched_ms","availability_at_least","outages","mean_outage_ms"\r\n',
      `${MONTH},"cluster","ams",,,,,,640723750,72250,2041204000,0,0.9998872496082997,,,0.4662904690713766,"2026-10-24T12:00:00.000Z",,298798000,342000000,0,2041204000,0.9998872496082997,1,72250\r\n`,
      `${MONTH},"group","ams","192.0.2.100",2,,,,640793000,5000,2041202000,0,0.99999219722908,0,5000,,"2026-10-24T12:00:00.000Z",,,,0,2041202000,0.99999219722908,1,5000\r\n`,
      `${MONTH},"website","ams",,,1,"'=shop,<b>","https",640723750,72250,2041204000,0,0.9998872496082997,,,,"2026-10-24T12:00:00.000Z",,,,0,2041204000,0.9998872496082997,1,72250\r\n`,
    ].join(""),
  });
});

test.each([
  ["münchen", '"münchen"'],
  ["shop;=1+1", `"shop;'=1+1"`],
  ["x\t=2+3", `"x\t'=2+3"`],
  ["x,@SUM(1)", `"x,'@SUM(1)"`],
  ["x\n+1\n-1", `"x\n'+1\n'-1"`],
  ["x\r\n=1", `"x\\u000d'\n'=1"`],
  ["=1;=2;a=3", `"'=1;'=2;a=3"`],
  ["x; =1", `"x;' =1"`],
  [' "=1', `"' ""=1"`],
  ['x;""=1"', `"x;'""""=1"""`],
  ["x;＝1;＋1;－1;＠1", `"x;'＝1;'＋1;'－1;'＠1"`],
  ["\tx", `"'\tx"`],
  ["\t=1", `"'\t'=1"`],
  ["\n=1", `"'\n'=1"`],
  ["x;\ty\t", `"x;'\ty\t"`],
  ["a-b = c; d; 1+1", `"a-b = c; d; 1+1"`],
  ["a\u200bb", '"a\\u200bb"'],
  ['say "b"', '"say ""b"""'],
])("the CSV quotes the text %j, and no part of it is a formula", async (name, cell) => {
  const records = [run(0, "start"), website(0, "up", name), alive(60)];
  const flags = ["--month=2026-10", "--output=csv"];
  const { out } = await report({ "2026-10-01.jsonl": linesOf(records) }, flags);
  expect(out).toContain(`,"website","ams",,,1,${cell},"https",60000,`);
});

test("the JSON has the same, and outages and failovers", async () => {
  const { code, out, err } = await report(JOURNAL, [...AMSTERDAM, "--output=json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  const knownSince = "2026-10-24T12:00:00.000Z";
  const ofWebsite = {
    upMs: 640_723_750,
    downMs: 72_250,
    unknownMs: 2_041_204_000,
    unansweredMs: 0,
    plannedMs: 0,
    availability: 640_723_750 / 640_796_000,
    availabilityAtLeast: 640_723_750 / 640_796_000,
    outages: 1,
    meanOutageMs: 72_250,
    knownSince,
  };
  expect(JSON.parse(out)).toEqual({
    version: "1.2.3",
    createdAt: "2026-11-26T00:00:00.000Z",
    month: "2026-10",
    timeZone: "Europe/Amsterdam",
    from: "2026-09-30T22:00:00.000Z",
    to: "2026-10-31T23:00:00.000Z",
    isOver: true,
    clusters: [
      {
        name: "ams",
        ...ofWebsite,
        readiness: {
          readyMs: 298_798_000,
          notReadyMs: 342_000_000,
          ready: 298_798_000 / 640_798_000,
        },
        groups: [
          {
            vhid: 2,
            vip: "192.0.2.100",
            upMs: 640_793_000,
            downMs: 5000,
            unknownMs: 2_041_202_000,
            unansweredMs: 0,
            plannedMs: 0,
            availability: 640_793_000 / 640_798_000,
            availabilityAtLeast: 640_793_000 / 640_798_000,
            outages: 1,
            meanOutageMs: 5000,
            knownSince,
            splitBrainMs: 0,
            noMasterMs: 5000,
          },
        ],
        websites: [{ id: 1, name: SHOP, protocol: "https", ...ofWebsite }],
      },
    ],
    outages: [
      {
        cluster: "ams",
        subject: "=shop,<b> https",
        from: "2026-10-28T00:00:00.000Z",
        to: "2026-10-28T00:01:12.250Z",
        durationMs: 72_250,
      },
      {
        cluster: "ams",
        subject: "192.0.2.100 (vhid 2)",
        from: "2026-10-28T00:00:00.000Z",
        to: "2026-10-28T00:00:05.000Z",
        durationMs: 5000,
      },
    ],
    unanswered: [],
    failovers: [
      {
        id: "one",
        kind: "failover",
        begin: "2026-10-28T00:00:00.000Z",
        summary: "b took over from a",
        severity: "warning",
        cluster: "ams",
        subjects: ["192.0.2.100 (vhid 2)"],
        failover: { from: "a", to: "b", cause: "silent", evidence: [], addresses: 1, isPartial: false },
      },
    ],
    windows: [],
    leftOut: 2,
    sources: [
      {
        folder: "DIR",
        files: Object.entries(JOURNAL).map(([name, content]) => {
          const bytes = Buffer.from(content);
          return { name, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
        }),
        damagedLines: 0,
        cutFiles: 0,
        starts: 2,
        gaps: 0,
        setBack: 0,
        versions: ["1.0.0"],
        shards: ["0/1"],
        leftOut: 2,
      },
    ],
  });
});

test("the HTML says the same to people, in their time zone, without scripts", async () => {
  const { code, out, err } = await report(JOURNAL, AMSTERDAM);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).not.toMatch(/<script|<link|<img|url\((?!#)/);
  const [said, notes = ""] = textOf(out).split("\nHow to read this\n");
  expect(said?.split("\n")).toEqual([
    "Availability in October 2026",
    "From 2026-10-01 00:00:00 +02:00 to 2026-11-01 00:00:00 +01:00, time zone Europe/Amsterdam.",
    "Clusters",
    "Cluster | 18152229 | Availability | Up | Down | Outages | Mean outage | No answer | Not watched | Planned | Ready |",
    "ams known since 2026-10-24 14:00:00 +02:00 | | 99.988 % | 177:58:43 | 0:01:13 | 1 | 0:01:13 | – | 567:00:04 | – | 46.629 % of the 7 d 9 h known |",
    "Cluster ams",
    "VRRP group | 18152229 | Availability | Up | Down | Outages | Mean outage | No answer | Not watched | Planned | Split brain | No master |",
    "192.0.2.100 vhid 2 known since 2026-10-24 14:00:00 +02:00 | | 99.999 % | 177:59:53 | 0:00:05 | 1 | 0:00:05 | – | 567:00:02 | – | – | 0:00:05 |",
    "Website | 18152229 | Availability | Up | Down | Outages | Mean outage | No answer | Not watched | Planned |",
    "=shop,&#60;b&#62; https id 1 known since 2026-10-24 14:00:00 +02:00 | | 99.988 % | 177:58:43 | 0:01:13 | 1 | 0:01:13 | – | 567:00:04 | – |",
    "Longest outages",
    "From | To | Length | Cluster | What |",
    "2026-10-28 01:00:00 +01:00 | 2026-10-28 01:01:12 +01:00 | 0:01:13 | ams | =shop,&#60;b&#62; https |",
    "2026-10-28 01:00:00 +01:00 | 2026-10-28 01:00:05 +01:00 | 0:00:05 | ams | 192.0.2.100 (vhid 2) |",
    "Longest times without an answer",
    "None.",
    "Failovers",
    "1 failover, of which 0 followed from planned work.",
    "When it was seen | Cluster | Planned | Cause | What happened |",
    "2026-10-28 01:00:00 +01:00 | ams | | Silent | b took over from a |",
    "Planned work",
    "None.",
  ]);
  expect(notes).toContain(
    "The journal DIR, written by version 1.0.0, shard 0/1: 2 starts of the exporter and 0 gaps; 2 records left out, since a journal has a limit for each day; what they would say is unknown. 8 files:",
  );
  expect(notes).toContain(
    "run appliance-exporter report --month=2026-10 --timezone=Europe/Amsterdam --storage.path=DIR.",
  );
  expect(notes).toMatch(/Made by appliance-exporter 1\.2\.3 at 2026-11-26 01:00:00 \+01:00\.$/);
});

const HOUR = 3600;

test("a site that is dark is not 100 %: the figure if it counts, and when it was", async () => {
  const records = [
    run(0, "start"),
    group(0, "one_master"),
    website(0, "up"),
    group(2 * HOUR, "unknown"),
    website(2 * HOUR + 60, "unknown"),
    group(4 * HOUR, "one_master"),
    website(4 * HOUR, "up"),
    alive(DAY),
  ];
  const files = { "2026-10-01.jsonl": linesOf(records) };
  const [flags, now] = [["--month=2026-10"], "2026-10-02T00:00:00.000Z"];
  const { out } = await report(files, [...flags, "--output=json"], now);
  const ams = {
    upMs: 22 * HOUR * 1000,
    downMs: 0,
    unknownMs: 2 * HOUR * 1000,
    unansweredMs: 2 * HOUR * 1000,
    availability: 1,
    availabilityAtLeast: 22 / 24,
    outages: 0,
  };
  const unanswered = { cluster: "ams", to: "2026-10-01T04:00:00.000Z" };
  expect(JSON.parse(out)).toMatchObject({
    clusters: [{ ...ams, websites: [{ unansweredMs: (2 * HOUR - 60) * 1000 }] }],
    outages: [],
    unanswered: [
      { ...unanswered, subject: "192.0.2.100 (vhid 2)", from: "2026-10-01T02:00:00.000Z" },
      { ...unanswered, subject: "shop https", from: "2026-10-01T02:01:00.000Z" },
    ],
  });
  const { out: page } = await report(files, flags, now);
  expect(textOf(page)).toContain("| 100 % at least 91.666 % | 22:00:00 | – | – | – | 2:00:00 | – | – |");
});

const windowRecord = (id: string, fields: Partial<WindowRecord>): WindowRecord => {
  const what = { appliances: [], clusters: [], labels: {}, comment: "firmware" };
  const times = { begin: "2026-10-01T01:00:00.000Z", end: "2026-10-01T02:00:00.000Z" };
  return {
    at: "2026-10-01T01:00:00.000Z",
    kind: "window",
    id,
    ...what,
    origin: "command",
    ...times,
    ...fields,
  };
};

const CUSTOMERS = [
  run(0, "start"),
  ...["ams", "rtm"].flatMap((cluster): readonly JournalRecord[] => {
    const labels = { customer: cluster === "ams" ? "acme" : "other" };
    const [of, at] = [{ cluster, state: "up" }, "2026-10-01T00:00:00.000Z"] as const;
    return [
      { at, kind: "cluster", ...of, labels },
      { at, kind: "appliance", ...of, appliance: `${cluster}-1` },
      { ...group(0, "one_master"), cluster },
    ];
  }),
  windowRecord("window01", { appliances: ["ams-1"], by: "alice", changedBy: "bob" }),
  windowRecord("window02", { clusters: ["rtm"], origin: "configuration", comment: "patch night" }),
  windowRecord("window03", { labels: { customer: "acme" }, origin: "drill", by: "alice" }),
  windowRecord("window04", {
    clusters: ["ams"],
    begin: "2026-09-01T01:00:00.000Z",
    end: "2026-09-01T02:00:00.000Z",
  }),
  failedOver(HOUR, "one"),
  failedOver(HOUR, "two", { cluster: "rtm" }),
  alive(DAY),
];

test.each([
  [["--cluster=ams"], ["ams"], ["window01", "window03"], ["one"]],
  [["--label=customer=acme"], ["ams"], ["window01", "window03"], ["one"]],
  [["--label=customer=other", "--cluster=rtm"], ["rtm"], ["window02"], ["two"]],
  [
    ["--cluster=ams", "--cluster=rtm"],
    ["ams", "rtm"],
    ["window01", "window02", "window03"],
    ["one", "two"],
  ],
  [[], ["ams", "rtm"], ["window01", "window02", "window03"], ["one", "two"]],
])(
  "a report with %j has these clusters, windows and failovers",
  async (flags, clusters, windows, failovers) => {
    const files = { "2026-10-01.jsonl": linesOf(CUSTOMERS) };
    const { out } = await report(files, ["--month=2026-10", "--output=json", ...flags]);
    const all = JSON.parse(out);
    expect(all.clusters.map(({ name }: { name: string }) => name)).toEqual(clusters);
    expect(all.windows.map(({ id }: { id: string }) => id)).toEqual(windows);
    expect(all.failovers.map(({ id }: { id: string }) => id)).toEqual(failovers);
  },
);

test("a file that cannot be read to its end has no SHA-256, since what was read does not identify it", async () => {
  const lines = linesOf([run(0, "start"), group(0, "one_master"), alive(HOUR)]);
  const files = { "2026-10-01.jsonl": lines, "2026-10-02.jsonl.gz": gzipSync(lines).subarray(0, -9) };
  const { out } = await report(files, ["--month=2026-10", "--output=json"]);
  expect(JSON.parse(out).sources).toMatchObject([
    { cutFiles: 1, files: [{ bytes: lines.length }, { name: "2026-10-02.jsonl.gz" }] },
  ]);
  expect(JSON.parse(out).sources[0].files[1]).toEqual({ name: "2026-10-02.jsonl.gz" });
  const { out: page } = await report(files, ["--month=2026-10"]);
  expect(textOf(page)).toContain("2026-10-02.jsonl.gz, not readable to the end");
});

test("a selected report names nothing of a window but its own part", async () => {
  const both = windowRecord("window05", {
    clusters: ["ams", "rtm"],
    appliances: ["rtm-1", "ams-1"],
    labels: { customer: "other" },
  });
  const files = { "2026-10-01.jsonl": linesOf([...CUSTOMERS.slice(0, -1), both, alive(DAY)]) };
  const { out } = await report(files, ["--month=2026-10", "--output=json", "--cluster=ams"]);
  const { windows } = JSON.parse(out);
  expect(windows.find(({ id }: { id: string }) => id === "window05")).toMatchObject({
    clusters: ["ams"],
    appliances: ["ams-1"],
    labels: {},
  });
});

test("a selected report has windows by labels that only some members have, and no label that was removed", async () => {
  const at = "2026-10-01T00:00:01.000Z";
  const [ams, own] = [
    { at, kind: "cluster", cluster: "ams", state: "up" },
    { at, kind: "appliance", cluster: "ams", appliance: "ams-1", state: "up" },
  ] as const;
  const records: readonly JournalRecord[] = [
    ...CUSTOMERS.slice(0, -1),
    { ...own, labels: { rack: "7" } },
    { ...own, appliance: "rtm-1", cluster: "rtm", labels: { rack: "8" } },
    windowRecord("window05", { labels: { rack: "7" } }),
    windowRecord("window06", { labels: { rack: "8" } }),
  ];
  const idsIn = async (more: readonly JournalRecord[]): Promise<readonly string[]> => {
    const files = { "2026-10-01.jsonl": linesOf([...records, ...more, alive(DAY)]) };
    const { out } = await report(files, ["--month=2026-10", "--output=json", "--cluster=ams"]);
    return JSON.parse(out).windows.map(({ id }: { id: string }) => id);
  };
  expect(await idsIn([])).toEqual(["window01", "window03", "window05"]);
  expect(await idsIn([own])).toEqual(["window01", "window03"]);
  expect(await idsIn([ams])).toEqual(["window01", "window05"]);
  expect(await idsIn([{ ...ams, state: "gone" }])).toEqual(["window01", "window03", "window05"]);
});

test("the report has windows with who and why, and says how it was selected", async () => {
  const files = { "2026-10-01.jsonl": linesOf(CUSTOMERS) };
  const { out } = await report(files, ["--month=2026-10", "--label=customer=acme"]);
  expect(textOf(out)).toContain("Only what was selected by customer=acme: 1 cluster.");
  expect(textOf(out)).toContain(
    [
      "Begin | End | Work on | Why | By |",
      "2026-10-01 01:00:00 +00:00 | 2026-10-01 02:00:00 +00:00 | ams-1 | firmware | alice, changed by bob |",
      "2026-10-01 01:00:00 +00:00 | 2026-10-01 02:00:00 +00:00 | customer=acme | drill: firmware | alice |",
    ].join("\n"),
  );
  expect(await report(files, ["--month=2026-10", "--cluster=nope"])).toMatchObject({
    code: 1,
    err: "nothing is known of the cluster nope; there are ams and rtm\n",
  });
  expect(await report(files, ["--month=2026-10", "--label=customer=nope"])).toMatchObject({ code: 1 });
});

test("an outage that is planned for a while, or not known, is one", async () => {
  const isPlanned = { isPlanned: true } as const;
  const records = [
    run(0, "start"),
    website(0, "up"),
    website(600, "down"),
    { ...website(1200, "down"), ...isPlanned },
    website(1800, "down"),
    website(2000, "unknown"),
    website(2100, "down_at_master"),
    website(2400, "up"),
    { ...website(2500, "down"), ...isPlanned },
    website(2600, "up"),
    alive(HOUR),
  ];
  const files = { "2026-10-01.jsonl": linesOf(records) };
  const { out } = await report(files, ["--month=2026-10", "--output=json"]);
  const shop = { downMs: 1_100_000, outages: 1, meanOutageMs: 1_100_000, plannedMs: 700_000 };
  expect(JSON.parse(out)).toMatchObject({
    clusters: [{ websites: [shop] }],
    outages: [{ from: "2026-10-01T00:10:00.000Z", to: "2026-10-01T00:40:00.000Z", durationMs: 1_100_000 }],
  });
});

test("a day with two files that say the same counts once", async () => {
  const lines = linesOf([
    { ...run(0, "start"), left: 3 },
    website(0, "up"),
    run(HOUR, "gap"),
    alive(2 * HOUR),
  ]);
  const files = { "2026-10-01.jsonl.gz": gzipSync(lines), "2026-10-01.jsonl": lines };
  const { out } = await report(files, ["--month=2026-10", "--output=json"]);
  expect(JSON.parse(out).sources).toMatchObject([{ starts: 1, gaps: 1, leftOut: 3 }]);
});

test("a folder that is given twice, or with an equal copy, counts once", async () => {
  const files = {
    "2026-10-01.jsonl": linesOf([{ ...run(0, "start"), left: 3 }, website(0, "up"), alive(2 * HOUR)]),
  };
  const [folder, copy] = [await createFolder(files), await createFolder(files)];
  const flags = [folder, `${folder}/`, copy].map((each) => `--storage.path=${each}`);
  const other = { "2026-10-01.jsonl": linesOf([{ ...run(1, "start"), left: 2 }, alive(HOUR)]) };
  const { out } = await report(other, ["--month=2026-10", "--output=json", ...flags]);
  expect(JSON.parse(out)).toMatchObject({ leftOut: 5, sources: [{ leftOut: 3, folder }, { leftOut: 2 }] });
});

test("a report counts gaps, clocks that were set back, and versions", async () => {
  const records = [
    run(0, "start"),
    group(0, "one_master"),
    alive(HOUR),
    { ...run(HOUR - 600, "gap"), version: "1.1.0" },
    group(HOUR - 600, "one_master"),
    alive(2 * HOUR),
    run(3 * HOUR, "gap"),
    alive(4 * HOUR),
  ];
  const { out } = await report({ "2026-10-01.jsonl": linesOf(records) }, [
    "--month=2026-10",
    "--output=json",
  ]);
  expect(JSON.parse(out).sources).toMatchObject([
    { starts: 1, gaps: 2, setBack: 1, versions: ["1.0.0", "1.1.0"], leftOut: 0 },
  ]);
});

test("a month that is not over ends now", async () => {
  const records = [run(0, "start"), group(0, "one_master"), alive(60)];
  const files = { "2026-10-01.jsonl": linesOf(records) };
  const now = "2026-10-01T00:01:04.000Z";
  const { out } = await report(files, ["--month=2026-10"], now);
  expect(textOf(out)).toContain(
    "From 2026-10-01 00:00:00 +00:00 to 2026-10-01 00:01:04 +00:00, time zone UTC. The month is not over.",
  );
  expect(textOf(out)).toContain(
    "It cannot be made again, since it ends now and the month does not. Once the month is over, run appliance-exporter report --month=2026-10",
  );
  const { out: json } = await report(files, ["--month=2026-10", "--output=json"], now);
  expect(JSON.parse(json)).toMatchObject({
    to: now,
    isOver: false,
    clusters: [{ upMs: 60_000, unknownMs: 4000 }],
  });
});

test("a group that changes when the month ends was what it becomes in the next", async () => {
  const files = {
    "2026-10-31.jsonl": linesOf([
      run(30 * DAY, "start"),
      group(30 * DAY, "one_master"),
      group(31 * DAY - 2, "changing"),
      alive(31 * DAY),
    ]),
    "2026-11-01.jsonl": linesOf([
      run(31 * DAY, "day"),
      group(31 * DAY, "changing"),
      group(31 * DAY + 3, "no_master"),
      alive(31 * DAY + 60),
    ]),
  };
  const { out } = await report(files, ["--month=2026-10", "--output=json"]);
  expect(JSON.parse(out)).toMatchObject({ clusters: [{ upMs: DAY * 1000 - 2000, downMs: 2000 }] });
});

test("journals are merged: the first one counts", async () => {
  const first = [run(0, "start"), group(0, "no_master"), alive(60)];
  const second = [run(0, "start"), group(0, "one_master"), alive(DAY)];
  const folder = await createFolder({ "2026-10-01.jsonl": linesOf(second) });
  const flags = ["--month=2026-10", "--output=json", `--storage.path=${folder}`];
  const clusters = async (...more: readonly string[]) => {
    const files = { "2026-10-01.jsonl": linesOf(first) };
    return JSON.parse((await report(files, [...more, ...flags])).out).clusters;
  };
  expect(await clusters()).toMatchObject([{ downMs: 0, upMs: 86_400_000 }]);
  const other = await createFolder({ "2026-10-01.jsonl": linesOf(first) });
  expect(await clusters(`--storage.path=${other}`)).toMatchObject([{ downMs: 60_000, upMs: 86_340_000 }]);
});

test("a damaged file is a warning, and what it lacks is unknown", async () => {
  const files = { "2026-10-01.jsonl.gz": gzipSync(linesOf([run(0, "start")])).subarray(0, -12), ...JOURNAL };
  const { code, out, err } = await report(files, [...AMSTERDAM, "--output=csv"]);
  expect({ code, err }).toEqual({
    code: 0,
    err: "DIR/2026-10-01.jsonl.gz: warning: cannot be read (Z_BUF_ERROR); what the rest of it would say is unknown\n",
  });
  expect(out).toContain(",640723750,72250,2041204000,0,");
});

test("progress names the folder and the day, and is removed", async () => {
  const shown: string[] = [];
  const days = ["24", "25", "26", "27", "28", "29", "30", "31"].map((day) => `2026-10-${day}`);
  const { code } = await report(JOURNAL, ["--month=2026-10"], undefined, {
    progress: (text) => void shown.push(text.replace(/^.*: /, "")),
  });
  expect({ code, shown }).toEqual({ code: 0, shown: [...days, ""] });
});

const EXAMPLE =
  "appliance-exporter report --month=2026-10 --timezone=Europe/Amsterdam --storage.path=/var/lib/appliance-exporter > report.html";

test.each([
  [
    ["--month=2026-13"],
    2,
    "error: option '--month <month>' argument '2026-13' is invalid. expected a month such as 2026-10\n",
  ],
  [[], 2, `error: appliance-exporter report needs --month <month>, such as: ${EXAMPLE}\n`],
  [
    ["--month=2026-10", "--timezone=Europe/Atlantis"],
    2,
    "error: option '--timezone <name>': expected a time zone of the IANA database, such as Europe/Amsterdam; 'timedatectl list-timezones' lists them\n",
  ],
  [["--month=2026-12"], 1, "2026-12 has not begun: it begins at 2026-12-01 00:00:00 +00:00\n"],
  [["--month=2026-09"], 1, "nothing is known of 2026-09: DIR has 2026-10-24 to 2026-10-31\n"],
  [["--month=2026-10", "--storage.path=/nonexistent/journal"], 1, "/nonexistent/journal: no such file\n"],
])("%j: exit code %d", async (flags, code, err) => {
  expect(await report(JOURNAL, flags)).toEqual({ code, out: "", err });
});

test("a folder without a journal is an error", async () => {
  const err = "nothing is known of 2026-10: DIR has no journal\n";
  expect(await report({ "notes.txt": "" }, ["--month=2026-10"])).toEqual({ code: 1, out: "", err });
  const { io, printed } = await createTestIo();
  expect(await runProgram(["report", "--month=2026-10"], io)).toBe(2);
  expect(printed.err).toBe(
    `error: appliance-exporter report needs --storage.path <folder>, such as: ${EXAMPLE}\n`,
  );
});

/** The text of a document, an element of a table a line. */
function textOf(markup: string): string {
  const [, body = ""] = markup.split("<body>");
  const text = body
    .replace(/<(tr|p|h\d)>/g, "\n")
    .replace(/<\/t[hd]>/g, " | ")
    .replace(/<[^>]*>/g, "");
  return text
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\n ?/g, "\n")
    .trim();
}
