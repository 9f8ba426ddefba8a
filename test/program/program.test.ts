import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { runProgram } from "../../src/program/program.ts";
import { createFolder } from "../exporter/config/folder.ts";
import { createTestIo } from "../support/io.ts";

/** The output and exit code of a command. */
async function run(...argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { io, printed } = await createTestIo();
  return { code: await runProgram(argv, io), ...printed };
}

describe("help", () => {
  test.each([
    "init",
    "run",
    "check",
    "poll",
    "trust",
    "status",
    "ready",
    "drill",
    "maintenance start",
    "maintenance list",
    "maintenance extend",
    "maintenance end",
    "report",
    "appliance",
    "demo",
    "completion",
  ])("of %s has an example, and exits 0", async (name) => {
    const { code, out, err } = await run(...name.split(" "), "--help");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain(`Usage: appliance-exporter ${name} [options]`);
    expect(out).toContain(`\nExample:\n  appliance-exporter ${name} `);
  });

  it("of the program lists all commands", async () => {
    const { code, out } = await run("--help");
    expect(code).toBe(0);
    expect([...out.matchAll(/^ {2}(\w+)(?: \[options\]| <| {2})/gm)].map(([, name]) => name)).toEqual([
      "init",
      "run",
      "check",
      "poll",
      "trust",
      "status",
      "ready",
      "drill",
      "maintenance",
      "report",
      "appliance",
      "demo",
      "completion",
    ]);
  });

  it("is not needed to learn the version", async () => {
    const out = `appliance-exporter, version 1.2.3 (branch: main, revision: 225c61122d88b01d1f0eaaee0e05b6f3e0567ac0)
  build date:       20260301-07:53:32
  node version:     v20.0.0
  platform:         linux/x64
`;
    expect(await run("--version")).toEqual({ code: 0, out, err: "" });
  });
});

/** 98 bytes. */
const TOO_LONG = `/${"é".repeat(48)}x`;

describe("a usage error", () => {
  test.each([
    [
      ["bogus"],
      "error: unknown command 'bogus'; the commands are init, run, check, poll, trust, status, ready, drill, maintenance, report, appliance, demo and completion: appliance-exporter --help\n",
    ],
    [["statsu"], /^error: unknown command 'statsu'; did you mean status\? The commands are init, run, .*\n$/],
    [
      ["maintenance", "strat"],
      /^error: unknown command 'strat'; did you mean start\? The commands are start, list, /,
    ],
    [
      ["poll"],
      "error: appliance-exporter poll needs <name>, such as: appliance-exporter poll waf-ams-1 --config.file=config.yaml --raw\n",
    ],
    [
      ["maintenance", "start"],
      'error: appliance-exporter maintenance start needs names of appliances or clusters (or --label) and --for <duration>, such as: appliance-exporter maintenance start waf-ams-1 --for=30m --comment="firmware 4.6"\n',
    ],
    [
      ["maintenance", "start", "waf-ams-1", "--comment=x"],
      /^error: appliance-exporter maintenance start needs --for <duration>, such as: /,
    ],
    [
      ["maintenance", "extend"],
      /^error: appliance-exporter maintenance extend needs <id> and --for <duration>, such as: /,
    ],
    [
      ["report"],
      /^error: appliance-exporter report needs --month <month> and --storage\.path <folder>, such as: /,
    ],
    [
      ["check", "--config=CANARY"],
      "error: unknown option '--config'; did you mean --config.file? For all flags: appliance-exporter check --help\n",
    ],
    [
      ["--web.listen-adress=:1"],
      /^error: unknown option '--web\.listen-adress'; did you mean --web\.listen-address\? /,
    ],
    [
      ["--port=1"],
      /^error: unknown option '--port'; did you mean --web\.listen-address\? .*appliance-exporter run --help\n$/,
    ],
    [
      ["status", "--password=CANARY"],
      /^error: unknown option '--password'; did you mean --http\.config\.file\? /,
    ],
    [["demo", "--port=1"], /^error: unknown option '--port'; did you mean --web\.listen-address\? /],
    [
      ["ready", "--lable"],
      "error: unknown option '--lable'; for all flags: appliance-exporter ready --help\n",
    ],
    ...[
      ["status", "--host=h"],
      ["maintenance", "list", "--web.port=1"],
    ].map((argv): [string[], RegExp] => [argv, /; did you mean --url\? /]),
    [["init", "--user=x"], /; did you mean --username\? /],
    [["init", "--password=CANARY"], /^error: unknown option '--password'; did you mean --password-file\? /],
    [["drill", "--exec=x"], /; did you mean --command\? /],
    [
      ["init", "--url=x"],
      "error: unknown option '--url'; write URLs as arguments: appliance-exporter init --help\n",
    ],
    [
      ["init", "--config.file=x"],
      "error: unknown option '--config.file'; name the folder: appliance-exporter init --help\n",
    ],
    [["version"], /^error: unknown command 'version'; did you mean --version\? The commands are /],
    [["maintenance", "stop"], /^error: unknown command 'stop'; did you mean end\? The commands are /],
    ...[["check"], ["check", "--live"], ["run"], [], ["trust"]].map((command): [string[], string] => [
      [...command, "config.yaml"],
      "error: write --config.file=config.yaml\n",
    ]),
    [
      ["demo", "config.yaml"],
      /^error: too many arguments for 'demo'\..* See appliance-exporter demo --help\n$/,
    ],
    [
      ["status", "--config.file=x"],
      "error: unknown option '--config.file'; for all flags: appliance-exporter status --help\n",
    ],
    [["run", "now"], /^error: too many arguments for 'run'\..* See appliance-exporter run --help\n$/],
    [
      ["--log.level=loud"],
      "error: option '--log.level <level>' argument 'loud' is invalid. Allowed choices are debug, info, warn, error.\n",
    ],
    [
      ["--web.listen-address=10849"],
      "error: option '--web.listen-address <address>' argument '10849' is invalid. expected [host]:port, such as :10849, 127.0.0.1:10849 or [::1]:10849\n",
    ],
    [
      ["status", "--url=http://monitor:CANARY@127.0.0.1"],
      "error: option '--url <url>': expected an http:// or https:// URL with a host (IPv6 in brackets), without credentials, query and fragment, or unix:FILE; put credentials into --http.config.file\n",
    ],
    [
      ["--shard=3/3"],
      "error: option '--shard <index/total>' argument '3/3' is invalid. expected INDEX/TOTAL with INDEX from 0 to TOTAL - 1 and TOTAL at most 1000, such as 0/3\n",
    ],
    [
      ["--web.external-url=https://exporter.example.org/?x"],
      "error: option '--web.external-url <url>' argument 'https://exporter.example.org/?x' is invalid. expected an http:// or https:// URL without credentials, query and fragment, such as https://exporter.example.org/base\n",
    ],
    [
      ["--web.telemetry-path=metrics"],
      "error: option '--web.telemetry-path <path>' argument 'metrics' is invalid. expected a path that starts with / and not with /-/, such as /metrics\n",
    ],
    [
      ["ready", "--config.file=config.yaml", "--url=http://127.0.0.1"],
      "error: option '--config.file <file>' cannot be used with option '--url <url>'\n",
    ],
    ...["0", "1.5d", "400"].map((duration): [string[], string] => [
      [`--storage.retention.time=${duration}`],
      `error: option '--storage.retention.time <duration>' argument '${duration}' is invalid. expected a duration, such as 400d, 1y or 2w3d\n`,
    ]),
    ...["0B", "1024", "1GiB", "1gb", "1PB", "-1B", "1e3B"].map((size): [string[], string] => [
      [`--storage.retention.size=${size}`],
      `error: option '--storage.retention.size <size>' argument '${size}' is invalid. expected a size in B, KB, MB, GB or TB, such as 512MB\n`,
    ]),
    ...[[], ["check"]].map((command): [string[], string] => [
      [...command, `--storage.path=${TOO_LONG}`],
      `error: option '--storage.path <folder>' argument '${TOO_LONG}' is invalid. expected a folder whose path has at most 97 bytes, because that of a Unix socket in it has at most 107; choose a shorter path, or a symbolic link to the folder\n`,
    ]),
    [["check", "waf-1"], "error: names, --failed and --certificates need --live\n"],
  ] satisfies readonly (readonly [string[], string | RegExp])[])(
    "%j is an error on stderr and exits 2",
    async (argv, expected) => {
      const { err, ...result } = await run(...argv);
      expect(result).toEqual({ code: 2, out: "" });
      expect(err).toMatch(expected);
    },
  );

  it("is not the name of an appliance that looks like a file", async () => {
    const { err } = await run("poll", "a.yaml", "--config.file=/none");
    expect(err).toMatch(/^\/none: /);
  });

  it("is an unknown appliance", async () => {
    const folder = await createFolder({
      "config.yaml": 'appliances: [{ name: fw-a, base_url: "https://192.0.2.1" }]\n',
    });
    const file = join(folder, "config.yaml");
    const { code, err } = await run("poll", "fw-b", `--config.file=${file}`);
    expect({ code, err }).toEqual({ code: 2, err: `unknown appliance "fw-b"; ${file} has fw-a\n` });
  });
});

function errorsIn(file: string): readonly string[] {
  return [
    `${file}:1:28: appliances[0].base_url: expected an https:// URL, got "10.0.0.1": write https://10.0.0.1\n`,
    `${file}:1:52: appliances[1].base_url: required key is missing\n`,
    `${file}:1:66: appliances[1]: unknown key "lables"; did you mean "labels"?\n`,
  ];
}

describe("an invalid configuration", () => {
  const INVALID = 'appliances: [{ name: fw-a, base_url: "10.0.0.1" }, { name: fw-a, lables: {} }]\n';

  test.each([["run"], ["check"], ["poll", "fw-a"]])(
    "makes %s print every error and exit 1",
    async (...command) => {
      const file = join(await createFolder({ "config.yaml": INVALID }), "config.yaml");
      const { code, out, err } = await run(...command, `--config.file=${file}`);
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toBe(errorsIn(file).join(""));
    },
  );

  it("is JSON with check --output=json", async () => {
    const file = join(await createFolder({ "config.yaml": "appliances: 1\n" }), "config.yaml");
    const { code, out, err } = await run("check", `--config.file=${file}`, "--output=json");
    expect({ code, err }).toEqual({ code: 1, err: "" });
    expect(JSON.parse(out)).toEqual({
      ok: false,
      errors: [
        {
          file,
          position: { line: 1, column: 1 },
          path: "appliances",
          message:
            'expected a list of maps: start each one with "- ", and go on with a key, a colon, a space and a value',
        },
      ],
    });
  });
});

test("check accepts every flag of run, and checks the web configuration too", async () => {
  const folder = await createFolder({ "config.yaml": "clusters: []\n", "web.yaml": "rate_limit: 1\n" });
  const values: Readonly<Record<string, string>> = {
    path: "/x",
    url: "https://exporter.example.org",
    level: "info",
    format: "json",
    "index/total": "0/2",
    file: "admin.sock",
    folder: "journal",
    duration: "30d",
    size: "1GB",
  };
  const { out } = await run("run", "--help");
  const others = Array.from(out.matchAll(/^ {2}(--\S+)(?: <([\w/]+)>)? /gm), ([, flag, value = ""]) =>
    value === "" ? `${flag}` : `${flag}=${values[value] ?? ""}`,
  ).filter((flag) => !/^--(.*config\.file|.*address)=/.test(flag));
  const flags = [
    `--config.file=${folder}/config.yaml`,
    `--web.config.file=${folder}/web.yaml`,
    "--web.listen-address=[::1]:0",
  ];
  expect(others).toHaveLength(12);
  expect(await run("check", ...flags, ...others)).toEqual({
    code: 1,
    out: "",
    err: `${folder}/web.yaml:1:1: rate_limit: not supported by this exporter\n`,
  });
});

describe("an address of several appliances", () => {
  const SHARED =
    'appliances: [{ name: a, base_url: "https://h" }, { name: b, base_url: "https://h:443/" }]\n';

  it("is a warning of check, not an error, as is a cluster of one member", async () => {
    const alone =
      'clusters: [{ name: ams, appliances: [{ name: c, base_url: "https://c", enabled: false }] }]\n';
    const file = join(await createFolder({ "config.yaml": `${SHARED}${alone}` }), "config.yaml");
    expect(await run("check", `--config.file=${file}`)).toEqual({
      code: 0,
      out: `${file}: valid, appliances: 2 enabled, 1 disabled\n`,
      err:
        `${file}: warning: appliances share addresses: https://h (a and b)\n` +
        `${file}: warning: clusters have one member, so no redundancy: ams\n`,
    });
  });
});

test.each([
  ["a file", "config.yaml", "cannot write into FOLDER/config.yaml: it is not a folder"],
  [
    "below a folder that is not there",
    "no/journal",
    "cannot create FOLDER/no/journal: FOLDER/no: no such folder; create it for the user of the exporter, or choose another --storage.path",
  ],
  ["new", "journal", undefined],
  ["there", "kept", undefined],
])("check --live warns of a --storage.path that is of no use: one that is %s", async (_, path, problem) => {
  const folder = await createFolder({ "config.yaml": "appliances: []\n", "kept/2026-03-01.jsonl": "" });
  const file = join(folder, "config.yaml");
  const flags = [`--config.file=${file}`, `--storage.path=${join(folder, path)}`];
  expect(await run("check", ...flags)).toMatchObject({ code: 0, err: "" });
  const { code, err } = await run("check", "--live", ...flags);
  const warning = `${file}: warning: no journal can be written: ${problem?.replaceAll("FOLDER", folder)}\n`;
  expect({ code, err }).toEqual({ code: 0, err: problem === undefined ? "" : warning });
});

test("run does not start with a --storage.path that cannot be created", async () => {
  const folder = await createFolder({ "config.yaml": "appliances: []\n" });
  const path = join(folder, "no", "journal");
  expect(await run("run", `--config.file=${join(folder, "config.yaml")}`, `--storage.path=${path}`)).toEqual({
    code: 1,
    out: "",
    err: `--storage.path: cannot create ${path}: ${join(folder, "no")}: no such folder; create it for the user of the exporter, or choose another --storage.path\n`,
  });
});

const variables = (passwords: readonly string[]): string =>
  passwords
    .map(
      (password, nth) =>
        `  - { name: a${nth}, base_url: "https://h${nth}", http_client: { basic_auth: { username: u, password: "${password}" } } }\n`,
    )
    .join("");

test("check warns of passwords that look like variables", async () => {
  const passwords = ["${PASSWORD}", "$PASSWORD", "{{ password }}", "%PASSWORD%", "pa$$word", "hunter2"];
  const folder = await createFolder({ "config.yaml": `appliances:\n${variables(passwords)}` });
  const file = join(folder, "config.yaml");
  const warning =
    "passwords look like variables, and nothing is expanded: they are sent as they are; use password_file: a0, a1, a2 and a3";
  expect(await run("check", `--config.file=${file}`)).toMatchObject({
    code: 0,
    err: `${file}: warning: ${warning}\n`,
  });
});

const oneAppliance = (more: string) => `appliances: [{ name: a, base_url: "https://192.0.2.1"${more} }]\n`;

test.each(["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])(
  "check says that %s is ignored, unless each appliance has a proxy",
  async (variable) => {
    const folder = await createFolder({
      "none.yaml": oneAppliance(""),
      "own.yaml": oneAppliance(", http_client: { proxy_url: http://192.0.2.9 }"),
    });
    const { io, printed } = await createTestIo({
      environment: (name) => (name === variable ? "http://proxy.example:3128" : undefined),
    });
    for (const name of ["none.yaml", "own.yaml"])
      expect(await runProgram(["check", `--config.file=${join(folder, name)}`], io)).toBe(0);
    expect(printed.err).toBe(
      `${join(folder, "none.yaml")}: warning: ${variable} of the environment is ignored; http_client.proxy_url sets a proxy\n`,
    );
  },
);
