import { chmod, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { runProgram } from "../../../src/program/program.ts";
import type { Io } from "../../../src/exporter/command/command.ts";
import { CARP0, CLOSED_PORT, listen, startAppliance, websiteOf } from "../../appliance/support.ts";
import { createFolder } from "../config/folder.ts";
import { createTestIo } from "../../support/io.ts";

const PASSWORD = "pass:word";
const EXAMPLE =
  "such as\n  appliance-exporter init . https://192.0.2.11:4849 https://192.0.2.12:4849 --username=monitor --password-file=-";

/** A pair, whose website answers with this status. */
async function startPair({ status = 200, hasWebsiteList = true } = {}) {
  const port = await listen(createServer((_, response) => response.writeHead(status).end()));
  const websites = [websiteOf({ id: 7, name: "shop: #1", protocol: "http", httpPort: port })];
  const [one, two] = await Promise.all(
    (["MASTER", "BACKUP"] as const).map((state) =>
      startAppliance({
        vrrp: async () => ({ ok: true, interfaces: [{ ...CARP0, state }] }),
        websites,
        hasWebsiteList,
      }),
    ),
  );
  if (one === undefined || two === undefined) throw new Error("no pair");
  const urls = [one, two].map((each, nth) => `waf-ams-${nth + 1}=https://127.0.0.1:${each.port}`);
  return { one, two, urls };
}

/** Runs init in a folder that exists, or below it. */
async function init(folder: string, args: readonly string[], fields: Partial<Io> = {}) {
  const { io, printed } = await createTestIo(fields);
  const code = await runProgram(["init", folder, ...args], io);
  const plain = (text: string) => text.replaceAll(`${folder}/`, "").replaceAll(folder, "FOLDER");
  return { code, out: plain(printed.out), err: plain(printed.err) };
}

const CREDENTIALS = ["--username=monitor", "--password-file=-"];
const SCRIPT = { readInput: async () => `${PASSWORD}\n` };

/** Answers questions by their beginnings, and records them. */
function answering(answers: Readonly<Record<string, string | readonly string[]>>) {
  const questions: string[] = [];
  const left = new Map(Object.entries(answers).map(([key, given]) => [key, [given].flat()]));
  const ask = async (question: string) => {
    questions.push(question);
    const key = [...left.keys()].find((each) => question.startsWith(each));
    return left.get(key ?? "")?.shift() ?? "";
  };
  return { questions, fields: { canAsk: true, ask, askSecret: ask } };
}

async function modesIn(folder: string, ...names: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(names.map((name) => stat(join(folder, name))));
  return found.map(({ mode }) => (mode & 0o7777).toString(8));
}

test("a script writes the configuration of a pair, which is checked, and needs nothing more to run", async () => {
  const { urls } = await startPair();
  const folder = join(await createFolder({}), "a/new");
  const { code, out, err } = await init(folder, [...urls, ...CREDENTIALS, "--yes"], SCRIPT);
  expect([code, err]).toEqual([0, ""]);
  expect(await readFile(join(folder, "config.yaml"), "utf8"))
    .toBe(`# The appliances that appliance-exporter polls. config.example.yaml shows every key.
# A running exporter loads a change within 30 seconds. To check it first: appliance-exporter check --live
# Their certificates are in the file known_certificates. When one is renewed: appliance-exporter trust

http_client:
  basic_auth:
    username: monitor
    password_file: secrets/monitor # read again when it changes

website_discovery: true # tests what the appliances list; at first: shop: #1 (7)

clusters:
  - name: waf-ams # appliances that back each other up
    appliances:
      - name: waf-ams-1
        base_url: ${urls[0]?.slice("waf-ams-1=".length)}
      - name: waf-ams-2
        base_url: ${urls[1]?.slice("waf-ams-2=".length)}
`);
  expect(await readFile(join(folder, "secrets/monitor"), "utf8")).toBe(`${PASSWORD}\n`);
  expect(await readFile(join(folder, "known_certificates"), "utf8")).toMatch(
    /^waf-ams-1 [\dA-F:]{95}\nwaf-ams-2 [\dA-F:]{95}\n$/,
  );
  expect(await modesIn(folder, "secrets", "secrets/monitor", "config.yaml")).toEqual(["700", "600", "644"]);
  expect(out).toContain("secrets/monitor     the password, for uid ");
  expect(out).toMatch(/^waf-ams-2 +website_test\/7 +ok +\d\.\d{3} s +http 200$/m);
  expect(out).toMatch(
    /\nappliances polled: 2, failed: 0\n\nNext:\n {2}appliance-exporter run --config.file=config.yaml\n$/,
  );
  expect(out).not.toContain(PASSWORD);
});

test("a script writes the configuration of a pair of firewalls, which have no websites", async () => {
  const row = { interface: "LAN", vhid: "1", advskew: "0", subnet: "192.0.2.1", mode: "carp" };
  const [one, two] = await Promise.all(
    ["MASTER", "BACKUP"].map((status) => {
      const answer = {
        status: 200,
        contentType: "application/json",
        body: JSON.stringify({ rows: [{ ...row, status }] }),
      };
      return startAppliance({
        kind: "opnsense",
        hasWebsiteList: false,
        replay: { has: () => true, get: () => answer },
      });
    }),
  );
  const folder = await createFolder({});
  const urls = [one, two].map((each, nth) => `fw-${nth + 1}=https://127.0.0.1:${each?.port}`);
  const { code, out } = await init(folder, [...urls, ...CREDENTIALS, "--kind=opnsense", "--yes"], SCRIPT);
  expect([code, out]).toEqual([0, expect.stringContaining("MASTER of 192.0.2.1")]);
  const config: unknown = parse(await readFile(join(folder, "config.yaml"), "utf8"));
  expect(config).toMatchObject({ kind: "opnsense", clusters: [{ name: "fw" }] });
  expect(config).not.toHaveProperty("website_discovery");
});

test("somebody at a terminal is asked for everything, and may correct a URL and a password", async () => {
  const { one, two } = await startPair();
  const folder = await createFolder({});
  const { questions, fields } = answering({
    "Appliances: ": ["http://127.0.0.1", `127.0.0.1:${one.port} 127.0.0.1:${CLOSED_PORT}`],
    "Name of the appliance": ["fw-a", "fw-b"],
    "Another URL of fw-b": `127.0.0.1:${two.port}`,
    "User for": ["monitor", "monitor"],
    "Password of": ["", "wrong", PASSWORD],
    "Compare each": "y",
    "Try another": "y",
  });
  const { code, err } = await init(folder, [], fields);
  expect(code).toBe(0);
  expect(questions.map((question) => question.replaceAll(/\d{4,}/g, "PORT"))).toEqual([
    "Appliances: ",
    "Appliances: ",
    "Name of the appliance 127.0.0.1:PORT [127.0.0.1:PORT]: ",
    "Name of the appliance 127.0.0.1:1 [127.0.0.1:1]: ",
    "Name of the cluster [fw]: ",
    "User for the management API: ",
    "Password of monitor (not shown): ",
    "Password of monitor (not shown): ",
    "Another URL of fw-b, or Enter to keep it although it does not answer: ",
    "Compare each SHA-256 with the one that the appliance itself shows. Trust 2 certificates? [y/N] ",
    "Try another user or password? [y/N] ",
    "User for the management API: ",
    "Password of monitor (not shown): ",
  ]);
  expect(err).toContain(
    "http://127.0.0.1: write https://: over http://, everybody in between could read the password\n",
  );
  expect(err).toContain('fw-a: Check user "monitor", its permissions on the appliance, and the password\n');
  expect(parse(await readFile(join(folder, "config.yaml"), "utf8"))).toMatchObject({
    clusters: [{ name: "fw", appliances: [{ name: "fw-a" }, { name: "fw-b" }] }],
  });
});

test("an appliance that does not answer may be kept; it is checked, and named in the exit code", async () => {
  const { one } = await startPair({ hasWebsiteList: false });
  const folder = await createFolder({});
  const { fields } = answering({ "Compare each": "y", "Password of": PASSWORD });
  const urls = [`a.1=https://127.0.0.1:${one.port}`, `b.1=https://127.0.0.1:${CLOSED_PORT}`];
  const { code, out } = await init(folder, [...urls, "--username=monitor", "--cluster=x"], fields);
  expect(code).toBe(1);
  expect(out).toContain("appliances polled: 2, failed: 1 (b.1)\n");
  expect(out).toContain(
    "appliance-exporter check --live --config.file=config.yaml   # when what fails above",
  );
  expect(await readFile(join(folder, "config.yaml"), "utf8")).toContain(
    "website_discovery: false # the appliances do not list their websites; name them in an appliance, such as websites: [1, 2]\n",
  );
});

test("another URL is asked for until it is valid, and that of no other appliance", async () => {
  const { one, two } = await startPair();
  const folder = await createFolder({});
  const { questions, fields } = answering({
    "Another URL of b": [`127.0.0.1:${one.port}`, "http://x", `127.0.0.1:${two.port}`],
    "Compare each": "y",
    "Password of": PASSWORD,
  });
  const urls = [`a=https://127.0.0.1:${one.port}`, `b=https://127.0.0.1:${CLOSED_PORT}`];
  const { code, err } = await init(folder, [...urls, "--username=monitor", "--cluster=x"], fields);
  expect(code).toBe(0);
  expect(err).toContain(`https://127.0.0.1:${one.port} is there twice\nwrite https://: over http://`);
  expect(questions.filter((each) => each.startsWith("Another URL"))).toHaveLength(3);
});

test("a name before other arguments that is no folder is no new one", async () => {
  const { io, printed } = await createTestIo();
  expect(await runProgram(["init", "waf-1", "waf-2", ...CREDENTIALS], io)).toBe(2);
  expect(printed.err).toBe(
    "waf-1: no such folder: write ./waf-1 for a new folder, or https://waf-1 for an appliance\n",
  );
});

test("at a terminal, a password from standard input is asked for, so that it is not shown", async () => {
  const { urls } = await startPair();
  const { questions, fields } = answering({ "Compare each": "y", "Password of": PASSWORD });
  const { code } = await init(await createFolder({}), [...urls, ...CREDENTIALS], fields);
  expect([code, questions]).toEqual([0, expect.arrayContaining(["Password of monitor (not shown): "])]);
});

test("a website that is down is a failure of the check; the files stay", async () => {
  const { urls } = await startPair({ status: 503 });
  const folder = await createFolder({});
  const { code, out } = await init(folder, [...urls, ...CREDENTIALS, "--yes"], SCRIPT);
  expect(code).toBe(1);
  expect(out).toContain("http 503 is not among expect_status (200-399)");
  expect((await readdir(folder)).toSorted()).toEqual(["config.yaml", "known_certificates", "secrets"]);
});

test.each<[name: string, args: readonly string[], fields: Partial<Io>, code: number, err: string]>([
  [
    "what is missing at once",
    [],
    {},
    2,
    `error: expected the URLs of appliances, --username=NAME (or APPLIANCE_USERNAME in the environment) and --password-file=FILE (- for standard input; or APPLIANCE_PASSWORD in the environment), ${EXAMPLE}\n`,
  ],
  [
    "what is missing beside the environment",
    ["https://127.0.0.1:PORT"],
    { environment: (name) => (name === "APPLIANCE_USERNAME" ? "monitor" : undefined) },
    2,
    `error: expected --password-file=FILE (- for standard input; or APPLIANCE_PASSWORD in the environment), ${EXAMPLE}\n`,
  ],
  [
    "a URL with credentials, without them",
    ["https://monitor:pass:word@127.0.0.1:PORT", ...CREDENTIALS],
    SCRIPT,
    2,
    "https://...@127.0.0.1:PORT: expected NAME=https://HOST:PORT, of which HOST is enough, without credentials and query; an IPv6 address in brackets\n",
  ],
  ...[
    ["https://monitor:a/b@h", "https://...@h"],
    ["waf=https://u:p=q@h", "waf=https://...@h"],
  ].map(([url = "", shown = ""]): [string, string[], Partial<Io>, number, string] => [
    `credentials as odd as ${url}`,
    [url, ...CREDENTIALS],
    SCRIPT,
    2,
    `${shown}: expected NAME=https://HOST:PORT, of which HOST is enough, without credentials and query; an IPv6 address in brackets\n`,
  ]),
  [
    "an appliance that is there twice",
    ["127.0.0.1:PORT", "https://127.0.0.1:PORT/", ...CREDENTIALS],
    SCRIPT,
    2,
    "https://127.0.0.1:PORT is there twice\n",
  ],
  [
    "certificates that nobody trusts",
    ["https://127.0.0.1:PORT", ...CREDENTIALS],
    SCRIPT,
    1,
    "nothing is written; --yes trusts new certificates without a question\n",
  ],
  [
    "a port on which nothing listens",
    ["fw=https://127.0.0.1:1", ...CREDENTIALS, "--yes"],
    SCRIPT,
    1,
    "fw does not answer as it should: nothing is written\n",
  ],
  [
    "a proxy that is ignored where an appliance does not answer",
    ["fw=https://127.0.0.1:1", ...CREDENTIALS, "--yes"],
    { ...SCRIPT, environment: (name) => (name === "HTTPS_PROXY" ? "http://192.0.2.9" : undefined) },
    1,
    "HTTPS_PROXY of the environment is ignored; http_client.proxy_url sets a proxy\nfw does not answer as it should: nothing is written\n",
  ],
  [
    "a wrong password",
    ["fw=https://127.0.0.1:PORT", ...CREDENTIALS, "--yes"],
    { readInput: async () => "wrong" },
    1,
    "fw could not be polled: nothing is written\n",
  ],
  [
    "a file of a password that is not there",
    ["fw=https://127.0.0.1:PORT", "--username=monitor", "--password-file=/none/nofile"],
    {},
    1,
    "password: no such file: nofile in /none: nothing is written\n",
  ],
  [
    "an empty password",
    ["fw=https://127.0.0.1:PORT", ...CREDENTIALS, "--yes"],
    {},
    1,
    "password: it is empty: nothing is written\n",
  ],
  [
    "a name of a cluster that no configuration may have",
    ["a=127.0.0.1:PORT", "b=127.0.0.1:1", "--cluster=#1", ...CREDENTIALS],
    SCRIPT,
    1,
    "cluster: expected a name without # at the start and without spaces at the start and the end: nothing is written\n",
  ],
  [
    "a user name that Basic authentication forbids",
    ["fw=https://127.0.0.1:PORT", "--username=a:b", "--password-file=-"],
    SCRIPT,
    1,
    "user: expected a non-empty user name without colons and control characters: nothing is written\n",
  ],
])("%s: an error, and nothing is written", async (_, args, fields, code, err) => {
  const { port } = await startAppliance({ vrrp: async () => ({ ok: true, interfaces: [CARP0] }) });
  const folder = await createFolder({});
  const result = await init(
    folder,
    args.map((arg) => arg.replace("PORT", String(port))),
    fields,
  );
  expect(result.code).toBe(code);
  expect(result.err.replaceAll(String(port), "PORT").endsWith(err)).toBe(true);
  expect(await readdir(folder)).toEqual([]);
});

test("a wrong password is sent to one appliance only", async () => {
  const { urls } = await startPair();
  const { out, err } = await init(await createFolder({}), [...urls, ...CREDENTIALS, "--yes"], {
    readInput: async () => "wrong",
  });
  expect(`${out}${err}`.match(/answered with status 401/g)).toHaveLength(1);
  const down = `waf-0=https://127.0.0.1:${CLOSED_PORT}`;
  const { fields } = answering({ "Compare each": "y", "Password of": "wrong" });
  const asked = await init(await createFolder({}), [down, ...urls, "--username=monitor"], fields);
  expect(`${asked.out}${asked.err}`.match(/answered with status 401/g)).toHaveLength(1);
});

test.each(["config.yaml", "known_certificates", "secrets/monitor"])(
  "nothing is overwritten: %s is there, and is named",
  async (name) => {
    const { urls } = await startPair();
    const folder = await createFolder({ [name]: "kept" });
    const { code, err } = await init(folder, [...urls, ...CREDENTIALS, "--yes"], SCRIPT);
    expect(code).toBe(1);
    expect(err).toContain(`${name} exists already`);
    expect(await readFile(join(folder, name), "utf8")).toBe("kept");
    expect(await readdir(folder)).toEqual([name.replace(/\/.*/, "")]);
  },
);

test("the empty configuration of a package is replaced, which says so; its mode stays, and the group gets the password", async () => {
  const { urls } = await startPair();
  const text = await readFile("packaging/debian/root/etc/appliance-exporter/config.yaml", "utf8");
  const folder = await createFolder({ "config.yaml": text });
  await chmod(join(folder, "config.yaml"), 0o640);
  await mkdir(join(folder, "secrets"));
  await chmod(join(folder, "secrets"), 0o2750);
  expect((await init(folder, [...urls, ...CREDENTIALS, "--yes"], SCRIPT)).code).toBe(0);
  expect(await modesIn(folder, "config.yaml", "secrets/monitor")).toEqual(["640", "640"]);
  expect(await readFile(join(folder, "config.yaml"), "utf8")).toContain("  - name: waf-ams # ");
});

test("a configuration with appliances is not replaced, whatever it says", async () => {
  const text =
    "# appliance-exporter init replaces this file.\nappliances: [{ name: a, base_url: https://a }]\n";
  const folder = await createFolder({ "config.yaml": text });
  const { code, err } = await init(folder, ["https://b", ...CREDENTIALS], SCRIPT);
  expect([code, err]).toEqual([
    1,
    "config.yaml exists already, and init overwrites nothing: name another folder\n",
  ]);
});

test("what cannot be written is an error before any question", async () => {
  const folder = await createFolder({});
  await writeFile(join(folder, "file"), "");
  const { questions, fields } = answering({});
  const { code, err } = await init(join(folder, "file"), [], fields);
  expect([code, err, questions]).toEqual([1, "FOLDER: it is no folder\n", []]);
});

test("a signal at a question writes nothing", async () => {
  const folder = await createFolder({});
  const { io, printed, stop } = await createTestIo({
    canAsk: true,
    ask: async () => {
      stop();
      return new Promise(() => {});
    },
  });
  expect(await runProgram(["init", folder], io)).toBe(1);
  expect(printed.err).toContain("\ninterrupted: nothing is written\n");
  expect(await readdir(folder)).toEqual([]);
});
