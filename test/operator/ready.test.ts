import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LocalVrrpInterface } from "../../src/appliance/encode.ts";
import { AUTHORITY, CARP0, listen, startAppliance, websiteOf } from "../appliance/support.ts";
import { createFolder } from "../exporter/config/folder.ts";
import { fleetOf, MEMBER_A, MEMBER_B } from "../exporter/fleet/support.ts";
import { createJudge, documentOf } from "../exporter/judge/support.ts";
import { windowOf } from "../exporter/maintenance/support.ts";
import {
  applianceOf,
  blocksOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  WALL_MS,
} from "../support/observations.ts";
import { answering, runAfter, serve } from "../program/support.ts";

const PAIR = [MEMBER_A, MEMBER_B].map((each) => ({ ...each, discovery: { exclude: [9], limit: 200 } }));
const FRA = ["fra-1", "fra-2"].map((name) => applianceOf({ name, cluster: "fra" }));
const BACKUP = interfaceOf({ state: "BACKUP", priority: 100, configuredRole: "backup" });
const EARLIER = { completedAtMs: WALL_MS - 180_000 };
/** In `ams`, `b` lacks an alias and a website; `fra` is ready. */
const DOCUMENT = documentOf(
  fleetOf(
    [...PAIR, ...FRA, applianceOf({ name: "lone" }), applianceOf({ name: "rtm-1", cluster: "rtm" })],
    [
      seen.vrrp("a", listOf([interfaceOf({ aliases: ["192.0.2.101"] })])),
      seen.vrrp("b", listOf([BACKUP])),
      seen.websites("a", [1, 2, 9], EARLIER),
      seen.details("a", 1, { name: "blog", host: "blog.example" }, EARLIER),
      seen.details("a", 2, {}, EARLIER),
      seen.website("a", 1, blocksOf(200, 200)),
      seen.website("a", 2, blocksOf(200, 200)),
      seen.websites("b", [2], EARLIER),
      seen.details("b", 2, {}, EARLIER),
      failed.website("b", 2, "timeout"),
      seen.vrrp("fra-1", listOf([interfaceOf()])),
      seen.vrrp("fra-2", listOf([BACKUP])),
    ],
  ),
);

async function ready(...flags: readonly string[]) {
  const url = `${await serve(answering(DOCUMENT))}/exporter`;
  return runAfter("ready", `--url=${url}`, ...flags);
}

test("says in a sentence what an appliance's failure would cost, and lists each risk with its age", async () => {
  expect(await ready()).toEqual({
    code: 1,
    err: "",
    out: `If a fails, blog and 192.0.2.101 are missing at b
  loss       blog is missing at b                               seen 3 min ago
  loss       192.0.2.101 is missing at b                        seen 3 s ago
  uncertain  it is not known whether b would serve shop like a  not seen yet
  1 website excluded: not compared
If fra-1 fails, fra-2 takes over 1 address

ready: 1, not ready: 1 (a), unknown: 0
`,
  });
});

test("while another member is worked on, nobody may stop but within that window", async () => {
  const fleet = fleetOf(FRA, [
    seen.vrrp("fra-1", listOf([interfaceOf()])),
    seen.vrrp("fra-2", listOf([BACKUP])),
  ]);
  const window = windowOf({ appliances: ["fra-2"] });
  const url = `${await serve(answering(documentOf(fleet, {}, 0, createJudge([window]))))}/exporter`;
  const busy =
    "If fra-1 fails, nobody may be left: fra-2 is worked on by alice until 2023-11-14 23:13 UTC (firmware 4.6): window patchnight\n";
  const counts = "\nready: 0, not ready: 1 (fra-1), unknown: 0\n";
  expect(await runAfter("ready", `--url=${url}`)).toEqual({ code: 1, err: "", out: `${busy}${counts}` });
  const takesOver = "If fra-1 fails, fra-2 takes over 1 address\n\nready: 1, not ready: 0, unknown: 0\n";
  expect(await runAfter("ready", `--url=${url}`, "--within=patchnight")).toEqual({
    code: 0,
    err: "",
    out: takesOver,
  });
  expect((await runAfter("ready", `--url=${url}`, "--within=another0")).code).toBe(1);
  const itself = "If fra-2 fails, nothing depends on it; redundancy is lost meanwhile\n";
  expect((await runAfter("ready", "fra-2", `--url=${url}`)).out).toContain(itself);
});

test("while another member that is worked on is away, the answer names the window and what is lost", async () => {
  const fleet = fleetOf(FRA, [seen.vrrp("fra-1", listOf([interfaceOf()])), failed.vrrp("fra-2", "connect")]);
  const window = windowOf({ appliances: ["fra-2"] });
  const url = `${await serve(answering(documentOf(fleet, {}, 0, createJudge([window]))))}/exporter`;
  const { code, out } = await runAfter("ready", "fra-1", `--url=${url}`);
  expect([code, out.split("\n")[0]]).toEqual([
    1,
    "If fra-1 fails, no appliance takes over 192.0.2.100 (vhid 2): fra-2 cannot be polled since 2023-11-14 22:13 UTC: " +
      "it cannot be reached (connect); fra-2 is worked on by alice until 2023-11-14 23:13 UTC (firmware 4.6): window patchnight",
  ]);
  expect((await runAfter("ready", "fra-1", `--url=${url}`, "--within=patchnight")).code).toBe(1);
});

test.each<readonly [readonly string[], number, string]>([
  [["fra"], 0, "ready: 1, not ready: 0, unknown: 0"],
  [["fra-2"], 0, "ready: 1, not ready: 0, unknown: 0"],
  [["a"], 1, "ready: 0, not ready: 1 (a), unknown: 0"],
  [["lone"], 2, "ready: 0, not ready: 0, unknown: 1 (lone)"],
  [["rtm", "fra"], 2, "ready: 1, not ready: 0, unknown: 1 (rtm-1)"],
  [["lone", "fra"], 2, "ready: 1, not ready: 0, unknown: 1 (lone)"],
  [["lone", "fra", "ams"], 1, "ready: 1, not ready: 1 (a), unknown: 1 (lone)"],
])("the exit code for %j is %i", async (names, code, last) => {
  const shown = await ready(...names);
  expect(shown).toMatchObject({ code, err: "" });
  expect(shown.out.split("\n").at(-2)).toBe(last);
});

test("JSON has the answers with the states and risks of the document", async () => {
  const { code, out } = await ready("a", "fra-2", "--output=json");
  expect([code, JSON.parse(out)]).toEqual([
    1,
    {
      verdict: "not_ready",
      answers: [
        {
          cluster: "ams",
          appliance: "a",
          verdict: "not_ready",
          summary: "If a fails, blog and 192.0.2.101 are missing at b",
          failover: JSON.parse(JSON.stringify(DOCUMENT.clusters[0]?.appliances[0]?.failover)),
        },
        {
          cluster: "fra",
          appliance: "fra-2",
          verdict: "ready",
          summary: "If fra-2 fails, nothing depends on it; redundancy is lost meanwhile",
        },
      ],
    },
  ]);
});

test("a name that nobody has, and an exporter that nobody reaches, are errors with the exit code 2", async () => {
  const url = `${await serve(answering(DOCUMENT))}/exporter`;
  const err = `unknown cluster or appliance "c"; ${url} has ams, a, b, fra, fra-1 and 4 more\n`;
  expect(await runAfter("ready", "a", "c", `--url=${url}`)).toEqual({ code: 2, out: "", err });
  expect(await runAfter("ready", "a", "--url=http://127.0.0.1:1")).toEqual({
    code: 2,
    out: "",
    err: "http://127.0.0.1:1/: connect ECONNREFUSED 127.0.0.1:1. Nothing listens there: check that the exporter runs, and the host and port of --url\n",
  });
});

const BACKUP_CARP0: LocalVrrpInterface = { ...CARP0, state: "BACKUP", priority: 100, type: "2" };

/** Reference appliances `a` and `b`, in that state of VRRP, and an appliance that stands alone; both serve the same website. */
async function configOf(
  states: readonly (readonly LocalVrrpInterface[])[],
  maintenance: readonly object[] = [],
): Promise<string> {
  const httpPort = await listen(createServer((_, response) => response.end()));
  const websites = [websiteOf({ id: 1, protocol: "http", httpPort })];
  const members = states.map(async (interfaces, nth) => {
    const { port } = await startAppliance({ vrrp: async () => ({ ok: true, interfaces }), websites });
    return { name: "ab"[nth], base_url: `https://127.0.0.1:${port}` };
  });
  const config = {
    http_client: {
      basic_auth: { username: "monitor", password: "pass:word" },
      tls_config: { ca_file: "ca.pem" },
    },
    clusters: [{ name: "ams", website_discovery: true, appliances: await Promise.all(members) }],
    appliances: [{ name: "lone", base_url: "https://127.0.0.1:1" }],
    maintenance,
  };
  const folder = await createFolder({ "ca.pem": AUTHORITY.cert, "config.yaml": JSON.stringify(config) });
  return join(folder, "config.yaml");
}

test.each<readonly [string, readonly (readonly LocalVrrpInterface[])[], readonly string[], number, string]>([
  [
    "ready",
    [[CARP0], [BACKUP_CARP0]],
    ["a"],
    0,
    "If a fails, b takes over 1 address and 1 website\n\nready: 1, not ready: 0, unknown: 0\n",
  ],
  [
    "BACKUP, without a name for its own",
    [[CARP0], [BACKUP_CARP0]],
    ["b", "ams"],
    0,
    `If a fails, b takes over 1 address and 1 website
If b fails, nothing depends on it; redundancy is lost meanwhile

ready: 2, not ready: 0, unknown: 0
`,
  ],
  [
    "without a BACKUP",
    [[CARP0], []],
    [],
    1,
    `If a fails, no appliance takes over 192.0.2.100 (vhid 2): b has no such group
  outage  no appliance takes over 192.0.2.100 (vhid 2): b has no such group  seen 0 s ago

ready: 0, not ready: 1 (a), unknown: 0
`,
  ],
  [
    "two MASTERs",
    [[CARP0], [CARP0]],
    ["a"],
    2,
    `If a fails, the master of 192.0.2.100 (vhid 2) is not certain, so it is not known which appliance takes over
  uncertain  the master of 192.0.2.100 (vhid 2) is not certain, so it is not known which appliance takes over  seen 0 s ago

ready: 0, not ready: 0, unknown: 1 (a)
`,
  ],
])("--config.file polls the members of the cluster itself: %s", async (_, states, names, code, out) => {
  const file = await configOf(states);
  expect(await runAfter("ready", ...names, `--config.file=${file}`)).toEqual({ code, err: "", out });
});

test("with --config.file, the recurring windows of the file count, but for those of the work", async () => {
  // One of them runs at any time of the hour.
  const halves = ["0", "30"].map((minute) => {
    const schedule = `0 ${minute} * * * *`;
    return {
      name: `at ${minute}`,
      appliances: ["b"],
      schedule,
      timezone: "UTC",
      duration: "45m",
      comment: "backup",
    };
  });
  const file = await configOf([[CARP0], [BACKUP_CARP0]], halves);
  const { code, out } = await runAfter("ready", "a", `--config.file=${file}`);
  const ids = Array.from(
    out.matchAll(/b is worked on until \S+ \S+ UTC \(backup\): window (\w+)/g),
    ([, id]) => id,
  );
  expect([code, ids.length > 0]).toEqual([1, true]);
  const within = ids.map((id) => `--within=${id}`);
  expect((await runAfter("ready", "a", `--config.file=${file}`, ...within)).code).toBe(0);
});

test("with --config.file, unknown names and invalid files are errors with the exit code 2", async () => {
  const file = await configOf([]);
  expect(await runAfter("ready", "c", `--config.file=${file}`)).toMatchObject({ code: 2, out: "" });
  const missing = await runAfter("ready", `--config.file=${file}.old`);
  expect(missing).toMatchObject({ code: 2, out: "", err: expect.stringContaining("config.yaml.old") });
});
