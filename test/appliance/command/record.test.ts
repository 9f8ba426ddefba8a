import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { loadApplianceConfig } from "../../../src/appliance/config.ts";
import type { Io } from "../../../src/exporter/command/command.ts";
import { runProgram } from "../../../src/program/program.ts";
import { AUTHORITY, listen, startAppliance } from "../support.ts";
import { createFolder } from "../../exporter/config/folder.ts";
import { createTestIo } from "../../support/io.ts";
import { isRecordedBody } from "../../support/recorded-grammar.ts";

/** The body of each answer by its path, or its status and content type too; `null`: none. */
type Answers = Readonly<
  Record<string, string | null | readonly [status: number, type: string, body: string]>
>;

const CARP = {
  state_current: "MASTER",
  vhid: "20",
  vip: "10.20.30.100",
  priority: "204",
  advskew: "49",
  alias: ["10.20.30.101"],
  if: "bond0.207",
  netmask: "255.255.255.128",
  carppeer: "10.20.30.3",
  type: "1",
  comment: "Mallory",
};

const ODD: Answers = {
  "/api/v1/interface/virtual": [
    200,
    "Application/JSON; charset=utf-8",
    JSON.stringify({ "carp-ams": CARP, "carp-dmz": { ...CARP, vip: "fd12:3456::7", state_current: "WAF7" } }),
  ],
  "/api/v1/website": [200, "text/x-ams", '["7", 8, "9"]'],
  "/api/v1/website/7": JSON.stringify({
    name: "shop",
    bind: ["10.20.30.100"],
    vhost: { name: "shop.example.org", port: "443" },
    rhost: [["https", "web7.corp", "8443", "1", "0", "443"]],
  }),
  "/api/v1/website/8": [503, "text/html", "<p>web7.corp is down"],
  "/api/v1/website/9": "<title>shop.example.org</title>",
  "/api/v1/website/7/test": JSON.stringify(
    "HTTP CONNECT --- HTTP\r\nHTTP/1.1 301 To shop\r\nLocation: https://shop.example.org/\r\nX-Web: web7\r\n\r\n" +
      "HTTP CONNECT --- HTTPS\r\nconnect web7.corp: connection refused\r\n",
  ),
  "/api/v1/website/8/test": '{"shop.example.org": 200}',
  "/api/v1/website/9/test": null,
};

const RECORDED = `exporter: 1.2.3
node: v20.0.0
kind: management_api
answers:
  - operation: vrrp
    result: ok
    status: 200
    content_type: application/json
    findings:
      - advskew_mismatch
      - unknown_state
    body: |-
      {
        "interface-1": {
          "state_current": "MASTER",
          "vhid": "20",
          "vip": "192.0.2.1",
          "priority": "204",
          "advskew": "49",
          "alias": [
            "192.0.2.2"
          ],
          "if": "if-1",
          "netmask": "255.255.255.128",
          "carppeer": "192.0.2.3",
          "type": "1",
          "key-1": "text-1"
        },
        "interface-2": {
          "state_current": "text-2",
          "vhid": "20",
          "vip": "2001:db8::1",
          "priority": "204",
          "advskew": "49",
          "alias": [
            "192.0.2.2"
          ],
          "if": "if-1",
          "netmask": "255.255.255.128",
          "carppeer": "192.0.2.3",
          "type": "1",
          "key-1": "text-1"
        }
      }
  - operation: website_list
    result: ok
    status: 200
    content_type: other
    findings: []
    body: |-
      [
        "7",
        8,
        "9"
      ]
  - operation: website_details
    website_id: 7
    result: ok
    status: 200
    content_type: application/json
    findings: []
    body: |-
      {
        "name": "site-1",
        "bind": [
          "192.0.2.1"
        ],
        "vhost": {
          "name": "host-1",
          "port": "443"
        },
        "rhost": [
          [
            "https",
            "host-2",
            "8443",
            "1",
            "0",
            "443"
          ]
        ]
      }
  - operation: website_details
    website_id: 8
    result: http_status
    status: 503
    content_type: text/html
  - operation: website_details
    website_id: 9
    result: decode
    status: 200
    content_type: application/json
    findings:
      - "$: expected JSON, got markup"
    body: <html>
  - operation: website_test
    website_id: 8
    result: decode
    status: 200
    content_type: application/json
    findings:
      - "$: expected a string, got an object"
    body: |-
      {
        "key-2": 0
      }
  - operation: website_test
    website_id: 9
    result: connect
  - operation: website_test
    website_id: 7
    result: ok
    status: 200
    content_type: application/json
    findings: []
    body: '"HTTP CONNECT ${"-".repeat(49)} HTTP\\nHTTP/1.1 301\\nLocation: text-3\\nHTTP CONNECT ${"-".repeat(49)} HTTPS\\nrefused"'
`;

/** The base URL of an appliance with these answers. */
async function serve(answers: Answers): Promise<string> {
  const server = createServer(({ url = "" }, response) => {
    const answer = answers[url];
    if (answer === null) return void response.destroy();
    const [status, type, body] =
      typeof answer === "string" ? [200, "application/json", answer] : (answer ?? [404, "text/plain", ""]);
    return void response.writeHead(status, { "content-type": type }).end(body);
  });
  return `http://127.0.0.1:${await listen(server)}`;
}

/** The base URL of a reference appliance that replays this recording. */
async function replay(recording: string): Promise<string> {
  const { cert, key } = await AUTHORITY.issue();
  const folder = await createFolder({
    "appliance.pem": cert,
    "appliance.key": key,
    "recorded.yaml": recording,
    "appliance.yaml": `listen: 127.0.0.1:0
tls: { cert_file: appliance.pem, key_file: appliance.key }
users: [{ username: monitor, password: secret }]
vrrp: { source: static, interfaces: {} }
replay_file: recorded.yaml
`,
  });
  const loaded = await loadApplianceConfig(join(folder, "appliance.yaml"));
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors));
  const { port } = await startAppliance({ replay: loaded.config.replay });
  return `https://127.0.0.1:${port}`;
}

interface Options {
  readonly ask?: Io["ask"];
  readonly password?: string;
  /** The ids of websites that are tested although they are not discovered. */
  readonly websites?: readonly number[];
}

/** A folder from which the appliance at this address is polled. */
async function setUp(baseUrl: string, { ask, password = "pass:word", websites = [] }: Options = {}) {
  const folder = await createFolder({
    "ca.pem": AUTHORITY.cert,
    "config.yaml": `
http_client:
  basic_auth: { username: monitor, password: "${password}" }
  tls_config: { ca_file: ca.pem }
website_discovery: true
appliances: [{ name: fw-a, base_url: "${baseUrl}", allow_http: true, websites: [${websites.join(", ")}] }]
`,
  });
  const file = join(folder, "file");
  const run = async (...flags: readonly string[]) => {
    const { io, printed } = await createTestIo(ask && { ask });
    const code = await runProgram(["poll", "fw-a", `--config.file=${folder}/config.yaml`, ...flags], io);
    const plain = (text: string) => text.replaceAll(folder, "DIR");
    return { code, out: plain(printed.out), err: plain(printed.err) };
  };
  return { folder, file, run };
}

/** The operations of a table, with their results. */
function rows(out: string): readonly string[] {
  return out.split("\n").flatMap((line) => /^fw-a +(\S+ +\S+)/.exec(line)?.[1] ?? []);
}

test("what is recorded has no name and no address of the network, and its replay is polled and recorded as the appliance was", async () => {
  const original = await setUp(await serve(ODD), { websites: [8, 9] });
  const shown = await original.run(`--record=${original.file}`, "--yes");
  expect(shown).toMatchObject({ code: 1, err: "" });
  const recording = await readFile(original.file, "utf8");
  expect(recording).toBe(RECORDED);
  expect(shown.out).toContain(`\n${RECORDED}\nDIR/file: answers written: 8\n`);
  expect((await stat(original.file)).mode & 0o777).toBe(0o600);
  const { answers }: { answers: { body?: string }[] } = parse(recording);
  expect(answers.filter(({ body = "" }) => !isRecordedBody(body))).toEqual([]);

  const replayed = await setUp(await replay(recording), { websites: [8, 9] });
  const again = await replayed.run(`--record=${replayed.file}`, "--yes");
  expect(await readFile(replayed.file, "utf8")).toBe(recording);
  expect(rows(again.out)).toEqual(rows(shown.out));
  expect(rows(again.out)).toHaveLength(8);
});

test.each([
  ["y", 0, "", ["config.yaml", "ca.pem", "file"]],
  ["", 1, "nothing is written; --yes writes without a question\n", ["config.yaml", "ca.pem"]],
  [undefined, 1, "nothing is written; --yes writes without a question\n", ["config.yaml", "ca.pem"]],
])("after the answer %j the exit code is %i", async (answer, code, err, files) => {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    return answer;
  };
  const { folder, run } = await setUp(await serve({ "/api/v1/interface/virtual": "{}" }), { ask });
  const result = await run(`--record=${folder}/file`);
  expect(result).toMatchObject({ code, err });
  expect(result.out).toContain('\n    body: "{}"\n');
  expect(questions).toEqual([`Write this to ${folder}/file? [y/N] `]);
  expect((await readdir(folder)).toSorted()).toEqual(files.toSorted());
});

test("no file is overwritten, and an error names the file", async () => {
  const { folder, file, run } = await setUp(await serve({ "/api/v1/interface/virtual": "{}" }));
  await writeFile(file, "mine");
  await mkdir(join(folder, "folder"));
  for (const [path, error] of [
    ["file", "EEXIST: file already exists, open 'DIR/file'"],
    ["folder", "EEXIST: file already exists, open 'DIR/folder'"],
    ["none/file", "ENOENT: no such file or directory, open 'DIR/none/file'"],
  ] as const)
    expect(await run(`--record=${folder}/${path}`, "--yes")).toMatchObject({
      code: 1,
      err: `cannot write DIR/${path}: ${error}\n`,
    });
  expect(await readFile(file, "utf8")).toBe("mine");
});

test("a number that is the password is neither shown nor written", async () => {
  const answers = { "/api/v1/interface/virtual": "{}", "/api/v1/website": "[1.234567891e9]" };
  const { file, run } = await setUp(await serve(answers), { password: "1234567891" });
  const { code, out, err } = await run(`--record=${file}`, "--yes");
  expect([code, err]).toEqual([1, "nothing is written: the file would contain the password\n"]);
  expect(out).not.toContain("body");
});

test("a recording is no output of another form", async () => {
  const { file, run } = await setUp("http://127.0.0.1:1");
  for (const flag of ["--raw", "--output=json"])
    expect(await run(`--record=${file}`, flag)).toMatchObject({
      code: 2,
      err: expect.stringContaining("'--record <file>' cannot be used with option '--"),
    });
});
