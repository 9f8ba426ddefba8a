import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../src/program/program.ts";
import { createFolder } from "../exporter/config/folder.ts";
import { startTestExporter } from "../support/exporter.ts";
import { createTestIo } from "../support/io.ts";
import { ask, HASH } from "../exporter/web/support.ts";

const WEB = `basic_auth_users: { alice: $2y$${HASH} }`;
const entry = (name: string) => ({ name, base_url: `http://127.0.0.1:1/${name}`, allow_http: true });
const CONFIG = {
  clusters: [{ name: "ams", labels: { site: "north" }, appliances: [entry("a"), entry("b")] }],
  appliances: [entry("lone")],
};

/** Exporters with these web configurations, and a function that runs the command for all of them. */
async function exportersWith(...webs: readonly string[]) {
  return exportersOf(CONFIG, ...webs);
}

async function exportersOf(config: object, ...webs: readonly string[]) {
  const exporters = await Promise.all(webs.map((web) => startTestExporter({ config, web })));
  for (const { port } of exporters)
    await expect.poll(async () => (await ask(port, "/-/ready")).status).toBe(200);
  onTestFinished(() => Promise.all(exporters.map(({ stop }) => stop())).then(() => undefined));
  const client = "http_client: { basic_auth: { username: alice, password: correct horse } }\n";
  const folder = await createFolder({ "client.yaml": client });
  const urls = exporters.map(({ url }) => `${url}/`);
  async function run(...args: readonly string[]) {
    const given = args.some((arg) => arg.startsWith("--url=")) ? [] : urls.map((url) => `--url=${url}`);
    const { io, printed } = await createTestIo();
    const file = `--http.config.file=${join(folder, "client.yaml")}`;
    const code = await runProgram(["maintenance", ...args, ...given, file], io);
    const hidden = (text: string) =>
      urls
        .reduce((shown, url, nth) => shown.replaceAll(url, `URL${nth}`), text)
        .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "DATE       TIME     UTC")
        .replaceAll(/\d s ago/g, "0 s ago");
    return { code, out: hidden(printed.out), err: hidden(printed.err) };
  }
  return { exporters, urls, run };
}

test("the next window of the configuration is listed with begin and end, and is in the JSON and on the page", async () => {
  const year = new Date().getUTCFullYear() + 1;
  const maintenance = [
    { name: "new year", clusters: ["ams"], schedule: "0 0 2 1 1 *", timezone: "UTC", duration: "2h" },
  ];
  const { exporters, run } = await exportersOf({ ...CONFIG, maintenance }, WEB);
  const { code, out } = await run("list", "--output=json");
  const window = {
    begin: `${year}-01-01T02:00:00.000Z`,
    end: `${year}-01-01T04:00:00.000Z`,
    comment: "new year",
  };
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    exporters: [{ windows: [], coming: [{ ...window, clusters: ["ams"] }] }],
  });
  expect((await run("list")).out).toMatch(
    /begins in \d+ d .* DATE +TIME +UTC +DATE +TIME +UTC +ams +configuration +new year/,
  );
  const [port = 0] = exporters.map((each) => each.port);
  const auth = { authorization: `Basic ${btoa("alice:correct horse")}` };
  const { body: document } = await ask(port, "/api/v1/fleet", { headers: auth });
  expect(JSON.parse(document.toString())).toMatchObject({
    planned: [],
    coming: [{ ...window, subjects: ["ams"] }],
  });
  const { body: page } = await ask(port, "/", { headers: auth });
  expect(page.toString()).toContain(
    `Next planned work from ${year}-01-01 02:00 UTC to ${year}-01-01 04:00 UTC: new year (ams).`,
  );
});

const START = ["--for=30m30s", "--comment=firmware 4.6", "--id=patchnight"];

const HEADER =
  "ID          STATE           BEGIN                    END                      WORK ON     BY     COMMENT       EXPORTER";
const row = (nth: number, state: string) =>
  `patchnight  ${state}  DATE       TIME     UTC  DATE       TIME     UTC  a and lone  alice  firmware 4.6  URL${nth}`;
const rows = (state: string) => `${[HEADER, row(0, state), row(1, state)].join("\n")}\n`;
const wider = (text: string) => text.replace("STATE           ", "STATE              ");
const ended = (nth: number) =>
  `URL${nth}: patchnight ended 2 h 0 min early: 2 problems left\n  Neither a nor b is reached (connect)\n  lone is down: it cannot be reached (connect)\n`;

test("a window starts at a pair of exporters under one id, is listed, extended and ended", async () => {
  const { run } = await exportersWith(WEB, WEB);
  for (const [args, out] of [
    [["list"], "no work is planned\n"],
    [["start", "a", "lone", ...START], rows("ends in 30 min")],
    [["extend", "patchnight", "--for=1h30m30s"], wider(rows("ends in 2 h 0 min"))],
    [["list"], wider(rows("ends in 2 h 0 min"))],
    [["end", "patchnight"], ended(0) + ended(1)],
    [["list"], rows("ended 0 s ago").replace("STATE           ", "STATE          ")],
  ] as const)
    expect.soft(await run(...args)).toEqual({ code: 0, out, err: "" });
  expect(await run("end", "patchnight")).toEqual({
    code: 1,
    out: "",
    err: "URL0: no window patchnight runs\nURL1: no window patchnight runs\n",
  });
});

test("a name of a cluster, and labels, cover what they name; without --id there is a new one", async () => {
  const { run } = await exportersWith(WEB);
  const { code, out } = await run(
    "start",
    "ams",
    "lone",
    "--label=site=north",
    "--for=30m",
    "--comment=x",
    "--output=json",
  );
  const { window } = JSON.parse(out).exporters[0];
  expect([code, window]).toEqual([
    0,
    expect.objectContaining({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      clusters: ["ams"],
      appliances: ["lone"],
      labels: { site: "north" },
    }),
  ]);
});

test("without a comment, a window says who works", async () => {
  const { run } = await exportersWith(WEB);
  expect((await run("start", "a", "--for=30m")).out).toMatch(/ alice +by \S+( \d+)? on \S+ +URL0\n$/);
});

test("nothing starts if an exporter lacks a name or cannot be reached", async () => {
  const { run, urls } = await exportersWith(WEB);
  expect(await run("start", "a", "c", ...START)).toEqual({
    code: 2,
    out: "",
    err: 'unknown cluster or appliance "c"; URL0 has ams, a, b and lone\n',
  });
  expect(await run("start", "a", ...START, `--url=${urls[0]}`, "--url=http://127.0.0.1:1")).toEqual({
    code: 2,
    out: "",
    err: "http://127.0.0.1:1/: connect ECONNREFUSED 127.0.0.1:1. Nothing listens there: check that the exporter runs, and the host and port of --url\nnothing is started\n",
  });
  expect((await run("list")).out).toBe("no work is planned\n");
});

test("if one of two exporters refuses, the command says which has the window and how to repeat it", async () => {
  const { run } = await exportersWith(WEB, `${WEB}\nmaintenance_users: []`);
  const { code, err } = await run("start", "a", ...START);
  expect([code, err]).toEqual([
    1,
    "URL1: This user is not among the maintenance_users of the web configuration\n" +
      "done at URL0, not at URL1; to repeat it there, run the command with --id=patchnight --url=URL1 only\n",
  ]);
});

test("work on another member begins only despite the window, and somebody else's window is changed with --yes only", async () => {
  const { run, exporters } = await exportersWith(
    `basic_auth_users: { alice: $2y$${HASH}, bob: $2y$${HASH} }`,
  );
  const start = { id: "bobswork", appliances: ["a"], for: "30m", comment: "disks" };
  await ask(exporters[0]?.port ?? 0, "/api/v1/maintenance", {
    method: "POST",
    headers: {
      authorization: `Basic ${Buffer.from("bob:correct horse").toString("base64")}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ start }),
  });
  const lines = async (...args: readonly string[]) => {
    const { code, out, err } = await run(...args);
    return [code, (out + err).replaceAll(/ {2,}/g, " ").replaceAll(/\d{4}-\S+ \S+ UTC/g, "DATE")];
  };
  const refusal =
    "URL0: a is worked on by bob until DATE (disks): window bobswork; wait for its end, or start this one with --despite=bobswork\n";
  expect(await lines("start", "b", ...START)).toEqual([1, refusal]);
  const [code] = await lines("start", "b", ...START, "--despite=bobswork");
  expect(code).toBe(0);
  const whose =
    "the window bobswork until DATE TIME UTC is of bob (disks): it stays; --yes changes it without a question\n";
  expect(await lines("end", "bobswork")).toEqual([1, whose]);
  expect(await lines("extend", "bobswork", "--for=1m")).toEqual([1, whose]);
  expect((await lines("extend", "bobswork", "--for=1m", "--yes"))[0]).toBe(0);
  expect((await lines("end", "bobswork", "--yes"))[0]).toBe(0);
});

const NEEDS = "appliance-exporter maintenance";

test.each([
  [["begin"], "unknown command 'begin'; the commands are start, list, extend and end"],
  [["toString"], "unknown command 'toString'; the commands are "],
  [
    ["start", "--for=1m", "--comment=x"],
    `${NEEDS} start needs names of appliances or clusters (or --label), such`,
  ],
  [["start", "a", "--comment=x"], `${NEEDS} start needs --for <duration>, such as: `],
  [
    ["start", "a", "--for=0", "--comment=x"],
    "option '--for <duration>' argument '0' is invalid. expected a duration, such as 30m or 1h30m",
  ],
  [["start", "--label=x"], "option '--label <key=value>' argument 'x' is invalid. expected KEY=VALUE"],
  [["extend", "x"], `${NEEDS} extend needs --for <duration>, such as: `],
  [["end"], `${NEEDS} end needs <id>, such as: `],
  [["list", "a"], "too many arguments for 'list'. Expected 0 arguments but got 1."],
])("maintenance %j is a usage error", async (args, message) => {
  const { io, printed } = await createTestIo();
  expect([await runProgram(["maintenance", ...args], io), printed]).toEqual([
    2,
    { out: "", err: expect.stringContaining(`error: ${message}`) },
  ]);
});
