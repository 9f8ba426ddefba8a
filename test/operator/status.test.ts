import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { fleetOf, MEMBER_A, MEMBER_B } from "../exporter/fleet/support.ts";
import { createFolder } from "../exporter/config/folder.ts";
import { ago, incident } from "../exporter/page/documents.ts";
import { documentOf } from "../exporter/judge/support.ts";
import { eventually } from "../support/eventually.ts";
import { startTestExporter } from "../support/exporter.ts";
import { fleetReport } from "../../src/operator/fleet-report.ts";
import {
  WALL_MS,
  applianceOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  websiteOf,
} from "../support/observations.ts";
import { answering, runAfter, serve } from "../program/support.ts";

const SHOP = websiteOf({ id: 2, name: "shop" });
const WRONG = documentOf(
  fleetOf(
    [{ ...MEMBER_A, websites: [SHOP] }, MEMBER_B, applianceOf({ name: "lone" })],
    [
      seen.vrrp("a", listOf([interfaceOf()])),
      failed.vrrp("b", "timeout"),
      seen.vrrp("lone", listOf([interfaceOf({ name: "carp\u001b[31m", vip: "192.0.2.7", state: "BACKUP" })])),
      seen.website("a", 2, [
        { protocol: "http", status: 0, text: "connection refused" },
        { protocol: "https", status: 503 },
      ]),
    ],
  ),
);
const WELL = documentOf(fleetOf([applianceOf({ name: "lone" })], [seen.vrrp("lone", listOf([]))]));
const UNKNOWN = documentOf(fleetOf([applianceOf({ name: "lone" })]));

const status = (...flags: readonly string[]) => runAfter("status", ...flags);

const ANSWER = "3 problems. Website down, redundancy lost and appliance down, in 1 of 2 clusters.\n";

test("shows the answer, problems, masters, and then only rows that are in trouble, in 100 columns", async () => {
  const url = await serve(answering(WRONG));
  expect(await status(`--url=${url}/exporter/`)).toEqual({
    code: 1,
    err: "",
    out: `${ANSWER}
SEVERITY  CLUSTER  SINCE  PROBLEM
critical  ams             shop is down: http no HTTP response (connection refused) from a, MASTER;
                          https 503 from a, MASTER
                            Look behind the appliances: at its servers, and at what it shares with
                            others that are down
critical  ams             a is MASTER of 192.0.2.100 without a backup: b does not answer in time
                          (timeout)
                            The next failure is an outage: bring the backup back
warning   ams             b is down: it does not answer in time (timeout)
                            Check that the appliance runs and no firewall drops its packets; if it
                            is slow, raise the timeout in polling

CLUSTER  MASTER  NEXT
ams      a       nobody

CLUSTER  VRRP                STATE
ams      192.0.2.100 vhid 2  Backup lost: a MASTER (priority 204, carp0 on eth1), b unknown

CLUSTER  READINESS    STATE
ams      If a fails   Outage: a MASTER (1 address), b not known to take over
ams      192.0.2.100  no appliance takes over 192.0.2.100 (vhid 2): b cannot be polled since
                      2023-11-14 22:13 UTC: it does not answer in time (timeout): a Backup lost
                      (seen 3 s ago)

CLUSTER  WEBSITES           STATE
ams      shop http + https  Down: a no response + 503 (http connection refused, https down), b not
                            tested from here

CLUSTER  POLLING OF THE VRRP LIST  STATE
ams      Latest poll               a good, b timeout (for 3 s, canned timeout)

${ANSWER}`,
  });
});

test("where all is well, a small fleet shows its masters, and a large one does not", () => {
  const pair = documentOf(
    fleetOf(
      [MEMBER_A, MEMBER_B],
      [seen.vrrp("a", listOf([interfaceOf()])), seen.vrrp("b", listOf([interfaceOf({ state: "BACKUP" })]))],
    ),
  );
  const [cluster] = pair.clusters;
  if (cluster === undefined) throw new Error("no cluster");
  const fleetOfMany = (number: number) => ({
    ...pair,
    clusters: Array.from({ length: number }, () => cluster),
  });
  const view = { hasColor: false, nowMs: WALL_MS + 3000 };
  const masters = "CLUSTER  MASTER  NEXT\nams      a       b\n";
  expect(fleetReport(pair, view)).toBe(`All is well. 1 cluster.\n\n${masters}\nAll is well. 1 cluster.\n`);
  expect(fleetReport(fleetOfMany(20), view)).toContain(masters);
  expect(fleetReport(fleetOfMany(21), view)).toBe("All is well. 21 clusters.\n");
});

test("--all shows what is well, too", async () => {
  const { out } = await status(`--url=${await serve(answering(WRONG))}/exporter`, "--all");
  expect(out.split("\n").filter((line) => line.startsWith("lone "))).toEqual([
    "lone     192.0.2.7 vhid 2    lone BACKUP (priority 204, carp\\u001b[31m on eth1)",
    "lone     Latest poll               lone good",
    "lone     Last success              lone 3 s ago",
    "lone     Duration                  lone 250 ms",
    "lone     Next poll                 lone none planned",
  ]);
});

test("a wider terminal has wider lines", () => {
  const view = { hasColor: false, nowMs: WALL_MS };
  const widest = (columns?: number): number => {
    const lines = fleetReport(WRONG, { ...view, columns }).split("\n");
    return Math.max(...lines.map(({ length }) => length));
  };
  expect(widest()).toBeLessThanOrEqual(100);
  expect(widest(80)).toBeLessThanOrEqual(100);
  expect(widest(160)).toBeGreaterThan(110);
});

test("a name of a cluster or of one of its appliances selects its part and the verdict on it", async () => {
  const url = `${await serve(answering(WRONG))}/exporter`;
  const lone = await status(`--url=${url}`, "lone");
  expect(lone.code).toBe(0);
  expect(lone.out).toBe("All is well. 1 cluster.\n");
  expect(lone.out).not.toMatch(/^ams /m);
  const ams = await status(`--url=${url}`, "b", "--output=json");
  expect(ams.code).toBe(1);
  expect(JSON.parse(ams.out)).toMatchObject({ verdict: "wrong", clusters: [{ name: "ams" }] });
  const err = `unknown cluster or appliance "fra"; ${url} has ams, a, b and lone\n`;
  expect(await status(`--url=${url}`, "fra")).toEqual({ code: 2, out: "", err });
});

test("--failed shows only rows with a problem", async () => {
  const { out } = await status(`--url=${await serve(answering(WRONG))}/exporter`, "--failed");
  expect(out.split("\n").filter((line) => /^(ams|lone) /.test(line))).toEqual([
    expect.stringMatching(/^ams +192\.0\.2\.100/),
    expect.stringMatching(/^ams +If a fails/),
    expect.stringMatching(/^ams +192\.0\.2\.100/),
    expect.stringMatching(/^ams +shop http \+ https /),
    expect.stringMatching(/^ams +Latest poll /),
  ]);
});

test("shows the latest eight incidents, of the selected clusters; --failed only those that are not over", async () => {
  const incidents = Array.from({ length: 10 }, (_, nth) => {
    const ends = nth === 0 ? {} : { end: ago(59 + nth) };
    const cluster = nth % 3 === 1 ? "lone" : "ams";
    return incident(`i${nth}`, "website_down", 65 + nth, {
      cluster,
      summary: `Website w${nth} is down`,
      ...ends,
    });
  });
  const url = `${await serve(answering({ ...WRONG, incidents }))}/exporter`;
  const shown = async (...flags: readonly string[]) =>
    /^BEGIN[^]*?(?=\n\n)/m.exec((await status(`--url=${url}`, ...flags)).out)?.[0].split("\n");
  expect(await shown()).toEqual([
    "BEGIN                 CLUSTER  STATE           WHAT HAPPENED",
    "2026-11-21T11:58:55Z  ams      not over        Website w0 is down",
    "2026-11-21T11:58:54Z  lone     over after 6 s  Website w1 is down",
    ...[2, 3, 4, 5, 6, 7].map((nth) => expect.stringContaining(` Website w${nth} is down`)),
  ]);
  expect(await shown("lone")).toHaveLength(1 + 3);
  expect(await shown("--failed")).toHaveLength(1 + 1);
  expect(JSON.parse((await status(`--url=${url}`, "--output=json")).out).incidents).toHaveLength(10);
});

test.each([
  ["well", WELL, 0],
  ["wrong", WRONG, 1],
  ["unknown", UNKNOWN, 2],
] as const)("the exit code depends on the verdict: %s", async (_, document, code) => {
  const url = await serve(answering(document));
  const shown = await status(`--url=${url}/exporter`, "--output=json");
  expect(shown).toMatchObject({ code, err: "" });
  expect(JSON.parse(shown.out)).toEqual(JSON.parse(JSON.stringify(document)));
});

const REASON = (text: string) => `APPLIANCES UNKNOWN - ${text}\n`;

test.each<[name: string, document: unknown, args: readonly string[], code: number, out: string]>([
  [
    "all is well",
    WELL,
    [],
    0,
    "APPLIANCES OK - All is well. 1 cluster. | critical=0;;0;0 warning=0;0;;0 unknown=0;;;0 planned=0;;;0 appliances_up=1;;;0;1\n",
  ],
  [
    "something is critical",
    WRONG,
    [],
    2,
    `APPLIANCES CRITICAL - 3 problems. Website down, redundancy lost and appliance down, in 1 of 2 clusters. | critical=2;;0;0 warning=1;0;;0 unknown=0;;;0 planned=0;;;0 appliances_up=2;;;0;3
CRITICAL ams: shop is down: http no HTTP response (connection refused) from a, MASTER; https 503 from a, MASTER
CRITICAL ams: a is MASTER of 192.0.2.100 without a backup: b does not answer in time (timeout)
WARNING ams: b is down: it does not answer in time (timeout)
`,
  ],
  [
    "what is wrong is planned, or in another cluster",
    {
      ...WRONG,
      verdict: "well",
      problems: WRONG.problems.map((problem) => ({ ...problem, isPlanned: true })),
    },
    ["ams"],
    0,
    "APPLIANCES OK - All is well. 1 cluster. | critical=0;;0;0 warning=0;0;;0 unknown=0;;;0 planned=3;;;0 appliances_up=1;;;0;2\n",
  ],
  [
    "nothing was polled yet",
    UNKNOWN,
    [],
    3,
    `APPLIANCES UNKNOWN - Not everything is known. Not polled yet. | critical=0;;0;0 warning=0;0;;0 unknown=1;;;0 planned=0;;;0 appliances_up=0;;;0;1
UNKNOWN Not everything of lone was polled yet
`,
  ],
  ["a name is unknown", WELL, ["fra"], 3, REASON('unknown cluster or appliance "fra"; URL has lone')],
  [
    "the answer is no document",
    {},
    [],
    3,
    REASON("URL: the server is not an appliance-exporter of this version"),
  ],
])("as a plugin, where %s", async (_, document, args, code, out) => {
  const url = `${await serve(answering(document))}/exporter`;
  const shown = await status(`--url=${url}`, "--output=nagios", ...args);
  expect({ ...shown, out: shown.out.replaceAll(url, "URL") }).toEqual({ code, out, err: "" });
});

test.each(["http://127.0.0.1:1", "no URL"])("as a plugin, without an exporter at %s", async (url) => {
  const { code, out, err } = await status(`--url=${url}`, "--output=nagios");
  expect([code, err]).toEqual([3, ""]);
  expect(out).toMatch(/^APPLIANCES UNKNOWN - .+\n$/);
});

test("the output of a plugin is bounded, and nothing but performance data follows a vertical bar", async () => {
  const problem = { ...WRONG.problems[0], cluster: "a|b", summary: `|\n${"🦊".repeat(1000)}` };
  const url = await serve(answering({ ...WRONG, problems: Array.from({ length: 1000 }, () => problem) }));
  const { out } = await status(`--url=${url}/exporter`, "--output=nagios");
  expect(Buffer.byteLength(out)).toBeLessThan(8192);
  expect(out.match(/\|/g)).toHaveLength(1);
  const lines = out.trimEnd().split("\n");
  expect(lines[1]).toMatch(/^CRITICAL a\/b: \/ (🦊)+…$/u);
  expect([lines.length, lines.at(-1)]).toEqual([17, "985 more"]);
});

test("no name puts markup or performance data into the output of a plugin", async () => {
  const script = "<script>alert(1)</script>|critical=0";
  const problem = { ...WRONG.problems[0], cluster: script, summary: `${script} is down` };
  const url = await serve(answering({ ...WRONG, problems: [problem] }));
  const { out } = await status(`--url=${url}/exporter`, "--output=nagios");
  expect(out).not.toMatch(/[<>]/);
  const shown = "(script)alert(1)(/script)/critical=0";
  expect(out.split("\n")[1]).toBe(`CRITICAL ${shown}: ${shown} is down`);
  const unreached = await status("--url=http://127.0.0.1:1/<b>|x=1", "--output=nagios");
  expect(unreached.out).toMatch(/^APPLIANCES UNKNOWN - [^<>|]+\n$/);
});

test("no exporter: exit code 2 and the reason", async () => {
  expect(await status("--url=http://127.0.0.1:1")).toEqual({
    code: 2,
    out: "",
    err: "http://127.0.0.1:1/: connect ECONNREFUSED 127.0.0.1:1. Nothing listens there: check that the exporter runs, and the host and port of --url\n",
  });
});

test.each([
  ["something else", { status: "success" }],
  ["no JSON", undefined],
])("%s in the response: exit code 2", async (_, document) => {
  const url = await serve(answering(document));
  expect(await status(`--url=${url}/exporter`)).toEqual({
    code: 2,
    out: "",
    err: `${url}/exporter: the server is not an appliance-exporter of this version\n`,
  });
});

test("credentials come from a file, and its errors have positions", async () => {
  const url = await serve((request, response) => {
    const isRight = request.headers.authorization === `Basic ${Buffer.from("ops:CANARY").toString("base64")}`;
    response.statusCode = isRight ? 200 : 401;
    response.end(JSON.stringify(WELL));
  });
  const folder = await createFolder({
    password: "CANARY\n",
    "good.yaml": "http_client: { basic_auth: { username: ops, password_file: password } }\n",
    "bad.yaml": "http_client: { basic_auth: { username: ops } }\nurl: x\n",
  });
  expect((await status(`--url=${url}`, `--http.config.file=${join(folder, "good.yaml")}`)).code).toBe(0);
  expect(await status(`--url=${url}`)).toEqual({
    code: 2,
    out: "",
    err: `${url}/: answered with status 401. The exporter wants a password: put \`http_client: { basic_auth: { username: NAME, password_file: FILE } }\` into a file, such as operator.yaml, and add --http.config.file=operator.yaml\n`,
  });
  await writeFile(join(folder, "password"), "");
  expect(await status(`--url=${url}`, `--http.config.file=${join(folder, "good.yaml")}`)).toMatchObject({
    code: 2,
    err: expect.stringContaining(
      `http_client.basic_auth.password_file: cannot use "${folder}/password": it is empty`,
    ),
  });
  const bad = await status(`--url=${url}`, `--http.config.file=${join(folder, "bad.yaml")}`);
  expect(bad.code).toBe(2);
  expect(bad.err.replaceAll(`${folder}/`, "")).toMatch(
    /^bad\.yaml:1:\d+: http_client\.basic_auth: expected either password or password_file\nbad\.yaml:2:1: unknown key; expected http_client\n$/,
  );
});

test("as a plugin, at a real exporter whose appliance cannot be reached", async () => {
  const exporter = await startTestExporter({
    config: { appliances: [{ name: "lone", base_url: "https://127.0.0.1:1" }] },
  });
  onTestFinished(exporter.stop);
  await eventually(async () => {
    const { code, out } = await status(`--url=${exporter.url}`, "--output=nagios");
    expect(code).toBe(2);
    expect(out.split("\n")[0]).toBe(
      "APPLIANCES CRITICAL - 1 problem. Cluster dark. | critical=1;;0;0 warning=0;0;;0 unknown=0;;;0 planned=0;;;0 appliances_up=0;;;0;1",
    );
  });
});
