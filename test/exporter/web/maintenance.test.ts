import { once } from "node:events";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createWindows } from "../../../src/exporter/maintenance/windows.ts";
import { listen } from "../../appliance/support.ts";
import { createAuthority, type Authority } from "../../support/certificates.ts";
import { createMemoryLog, startTestExporter } from "../../support/exporter.ts";
import { applianceOf, WALL_MS } from "../../support/observations.ts";
import { ask, basic, connectTo, HASH, routes, startSecured } from "./support.ts";

const PATH = "/api/v1/maintenance";
const USERS = `basic_auth_users: { alice: $2y$${HASH}, bob: $2y$${HASH}, prometheus: $2y$${HASH} }`;
const NARROWED = `${USERS}\nmaintenance_users: [alice, bob]`;
const JSON_BODY = { "content-type": "application/json" };
const ALICE = { ...basic("alice:correct horse"), ...JSON_BODY };
const BOB = { ...basic("bob:correct horse"), ...JSON_BODY };
const START = { id: "patchnight", appliances: ["a"], for: "30m", comment: " firmware 4.6 " };
const WINDOW = {
  id: "patchnight",
  comment: "firmware 4.6",
  by: "alice",
  origin: "command",
  appliances: ["a"],
  clusters: [],
  labels: {},
  begin: "2023-11-14T22:13:20.000Z",
  end: "2023-11-14T22:43:20.000Z",
};

let authority: Authority;

beforeAll(async () => {
  authority = await createAuthority();
});

/** The windows of an appliance `a` under a clock that is held still, and the lines of the log. */
function heldWindows(isEnabled = true, remaining = async () => ["a is down"]) {
  const clock = { wallMs: () => WALL_MS, monotonicMs: () => 0 };
  const none = { onChange: () => {}, isMuting: () => false, onDrill: () => {} };
  const windows = createWindows({ clock, restored: [], ...none });
  windows.configure({ appliances: [applianceOf({ name: "a" })], maintenance: [] });
  const { logger, lines } = createMemoryLog();
  return { handler: routes({ maintenance: { isEnabled, windows, remaining, logger } }), lines };
}

/** Sends a change and returns the status and the body, as JSON where it is that. */
async function change(port: number, body: unknown, headers: object = ALICE, method = "POST") {
  const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const answer = await ask(port, PATH, { method, headers: { ...headers }, body: text });
  const shown = answer.body.toString().trimEnd();
  const isJson = answer.headers["content-type"] === "application/json";
  return [answer.status, isJson ? JSON.parse(shown) : shown] as const;
}

test("a window is started, listed, extended and ended, with a line in the log for each", async () => {
  const { handler, lines } = heldWindows();
  const { port } = await startSecured(NARROWED, {}, handler);
  expect(await change(port, { start: START })).toEqual([200, { window: WINDOW }]);
  const extended = { ...WINDOW, changedBy: "alice", end: "2023-11-15T00:13:20.000Z" };
  expect(await change(port, { extend: { id: "patchnight", for: "1h30m" } })).toEqual([
    200,
    { window: extended },
  ]);
  const listed = await ask(port, PATH, { headers: basic("prometheus:correct horse") });
  expect([listed.status, JSON.parse(listed.body.toString())]).toEqual([200, { windows: [extended] }]);
  const ended = { ...WINDOW, changedBy: "bob", end: WINDOW.begin };
  expect(await change(port, { end: { id: "patchnight" } }, BOB)).toEqual([
    200,
    { window: ended, remaining: ["a is down"] },
  ]);
  const by = { level: "info", user: "alice", msg: "planned work changed" };
  expect(lines).toMatchObject([
    { ...by, change: "start", ...WINDOW },
    { ...by, change: "extend", ...extended },
    { ...by, change: "end", ...ended, user: "bob" },
  ]);
});

test("of many ends at once, the fleet is judged for a few, one at a time; the others only end their windows", async () => {
  let [judged, atOnce, mostAtOnce] = [0, 0, 0];
  const { handler } = heldWindows(true, async () => {
    judged += 1;
    atOnce += 1;
    mostAtOnce = Math.max(mostAtOnce, atOnce);
    await setTimeout(20);
    atOnce -= 1;
    return [];
  });
  const { port } = await startSecured(USERS, {}, handler);
  const ids = Array.from({ length: 30 }, (_, nth) => `patchnight${nth}`);
  for (const id of ids) await change(port, { start: { ...START, id } });
  const answers = await Promise.all(ids.map((id) => change(port, { end: { id } })));
  expect(new Set(answers.map(([status]) => status))).toEqual(new Set([200]));
  expect(answers.filter(([, { remaining }]) => remaining !== undefined)).toHaveLength(judged);
  expect(mostAtOnce).toBe(1);
  expect(judged).toBeLessThan(30);
  expect((await change(port, { end: { id: ids[0] } }))[0]).toBe(404);
});

test("a window without an id gets one of its own", async () => {
  const { port } = await startSecured(USERS, {}, heldWindows().handler);
  const [status, { window }] = await change(port, { start: { ...START, id: undefined } });
  expect([status, window]).toEqual([200, { ...WINDOW, id: expect.stringMatching(/^[0-9a-f]{16}$/) }]);
});

const UNKNOWN_USER =
  "Planned work needs a password, or a client certificate that is required and verified: see --web.config.file";
const PAGE = "Web pages cannot change planned work: the request has an Origin or Sec-Fetch-Site header";

test.each([
  ["the flag is missing", NARROWED, ALICE, 403, /^Planned work over HTTP is not enabled; --web\.enable-mai/],
  ["no password is required", "{}", JSON_BODY, 403, UNKNOWN_USER],
  ["a password is given that nobody checks", "{}", ALICE, 403, UNKNOWN_USER],
  ["the password is missing", NARROWED, JSON_BODY, 401, "Unauthorized"],
  ["the password is wrong", NARROWED, { ...ALICE, ...basic("alice:wrong") }, 401, "Unauthorized"],
  [
    "the user may only read",
    NARROWED,
    { ...JSON_BODY, ...basic("prometheus:correct horse") },
    403,
    "This user is not among the maintenance_users of the web configuration",
  ],
  ["nobody may", `${USERS}\nmaintenance_users: []`, ALICE, 403, /not among/],
  ["a web page asks", NARROWED, { ...ALICE, origin: "http://evil.example" }, 403, PAGE],
  ["a web page asks after DNS rebinding", NARROWED, { ...ALICE, "sec-fetch-site": "same-origin" }, 403, PAGE],
  [
    "a form asks",
    NARROWED,
    { ...ALICE, "content-type": "text/plain" },
    415,
    "Expected content-type: application/json",
  ],
])("nothing changes if %s", async (name, yaml, headers, status, message) => {
  const { handler } = heldWindows(name !== "the flag is missing");
  const { port } = await startSecured(yaml, {}, handler);
  const [got, text] = await change(port, { start: START }, headers);
  expect(got).toBe(status);
  expect(text).toMatch(message);
  const listed = await ask(port, PATH, { headers: basic("alice:correct horse") });
  expect(listed.body.toString()).toBe('{"windows":[]}\n');
});

test("a refusal is logged with the user, and not without one", async () => {
  const { handler, lines } = heldWindows();
  const { port } = await startSecured(NARROWED, {}, handler);
  await change(port, { start: START }, JSON_BODY);
  await change(port, { start: START }, { ...JSON_BODY, ...basic("prometheus:correct horse") });
  const detail = "This user is not among the maintenance_users of the web configuration";
  expect(lines).toMatchObject([
    { level: "warn", user: "prometheus", status: 403, detail, msg: "planned work refused" },
  ]);
});

const COMMENT = "start: comment: expected 1 to 200 characters, none of them a control character or invisible";
const ONE_OF = "expected one of start, extend and end";
const NO_MAP = "Expected a JSON object with one of start, extend and end";

const REFUSED: readonly (readonly [body: unknown, status: number, message: string | RegExp])[] = [
  ["", 400, NO_MAP],
  ["{", 400, NO_MAP],
  [Buffer.from([0x22, 0xff, 0x22]), 400, NO_MAP],
  ["[".repeat(8192), 400, NO_MAP],
  [`${"[".repeat(4096)}${"]".repeat(4096)}`, 400, NO_MAP],
  [{}, 400, ONE_OF],
  [{ end: { id: "patchnight" }, extend: { id: "patchnight", for: "1m" } }, 400, ONE_OF],
  [{ start: START, more: 1 }, 400, "unknown key; expected start, extend or end"],
  [
    { start: { ...START, id: "../../x" } },
    400,
    "start: id: expected the id of a window, 8 to 32 lower-case letters and digits: appliance-exporter maintenance list shows it",
  ],
  [{ start: { ...START, comment: "\u0007" } }, 400, COMMENT],
  [{ start: { ...START, comment: "\ud800" } }, 400, COMMENT],
  [{ start: { ...START, comment: " " } }, 400, COMMENT],
  [{ start: { ...START, comment: "x".repeat(201) } }, 400, COMMENT],
  [{ start: { ...START, for: "0" } }, 400, "start: for: expected a duration of 1s to 1y, such as 1m30s"],
  [{ start: { ...START, for: "-5m" } }, 400, "start: for: expected a duration of 1s to 1y, such as 1m30s"],
  [{ start: { ...START, for: undefined } }, 400, /^start: for: /],
  [
    { start: { ...START, appliances: Array(101).fill("a") } },
    400,
    "start: appliances: expected at most 100 entries",
  ],
  [{ start: { ...START, appliances: ["b"] } }, 422, "there is no enabled appliance b"],
  [{ start: { ...START, appliances: [] } }, 422, "the window names no appliance, cluster or label"],
  [{ start: { ...START, for: "25h" } }, 422, "a window may last 1440 minutes at most"],
  [{ start: { ...START, drill: true, for: "31m" } }, 422, "a window may last 30 minutes at most"],
  [{ extend: { id: "patchnight", for: "25h" } }, 422, /^a window may end 24 hours from now at most/],
  [{ extend: { id: "patchnight", for: "1m" } }, 404, /^no window patchnight runs/],
  [{ end: { id: "patchnight" } }, 404, /^no window patchnight runs/],
];

test("a change that is not valid is refused, and says why", async () => {
  const { port } = await startSecured(USERS, {}, heldWindows().handler);
  for (const [body, status, message] of REFUSED) {
    const answer = [body, status, expect.stringMatching(message)];
    expect([body, ...(await change(port, body))]).toEqual(answer);
  }
});

test("an id that is known, a second drill and a window too many are refused", async () => {
  const { port } = await startSecured(USERS, {}, heldWindows().handler);
  const start = (given: object) => change(port, { start: { ...START, ...given } });
  expect(await start({ drill: true })).toEqual([200, { window: { ...WINDOW, origin: "drill" } }]);
  expect(await start({})).toEqual([409, "there is a window patchnight"]);
  expect(await start({ id: "another1", drill: true })).toEqual([
    409,
    "the drill patchnight runs: one at a time",
  ]);
  for (let nth = 1; nth < 50; nth += 1) expect((await start({ id: `window${nth}00` }))[0]).toBe(200);
  expect(await start({ id: "onemore1" })).toEqual([
    429,
    expect.stringContaining("alice has started or extended 50 windows"),
  ]);
  expect((await change(port, { start: { ...START, id: "onemore1" } }, BOB))[0]).toBe(200);
});

test.each([
  ["with its length", { "content-length": 8193 }],
  ["in chunks", { "transfer-encoding": "chunked" }],
])("a body of more than 8 KiB, %s, is refused", async (_, headers) => {
  const { port } = await startSecured(USERS, {}, heldWindows().handler);
  const answer = await change(port, " ".repeat(8193), { ...ALICE, ...headers });
  expect(answer).toEqual([413, "Expected a complete body of at most 8192 bytes"]);
});

test("a body may come byte by byte, in chunks, while its password is checked", async () => {
  const { port } = await startSecured(USERS, {}, heldWindows().handler);
  const socket = await connectTo(port);
  const text = JSON.stringify({ start: START }).padEnd(8192);
  const chunks = Array.from(text, (char) => `1\r\n${char}\r\n`).join("");
  const { authorization } = ALICE;
  socket.write(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
  );
  const [data] = await once(socket, "data");
  expect(String(data)).toMatch(/^HTTP\/1\.1 200 /);
});

test("a client that never completes its body is disconnected after ten seconds, others are served meanwhile", async () => {
  const { handler, lines } = heldWindows();
  const { port } = await startSecured(USERS, {}, handler);
  const slow = await connectTo(port);
  let received = "";
  slow.on("data", (data: Buffer) => (received += data.toString()));
  slow.write(
    `POST ${PATH} HTTP/1.1\r\nHost: x\r\nAuthorization: ${ALICE.authorization}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
  );
  const gone = await connectTo(port);
  gone.write(`POST ${PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{`);
  gone.destroy();
  expect((await change(port, { start: START }))[0]).toBe(200);
  await once(slow, "close");
  expect(received).toMatch(/^HTTP\/1\.1 408 /);
  const detail = "Expected a complete body of at most 8192 bytes";
  expect(lines.slice(1)).toMatchObject([{ user: "alice", detail, msg: "planned work refused" }]);
}, 60_000);

test("PUT, DELETE, PATCH and OPTIONS are not served", async () => {
  const { port } = await startSecured(USERS, {}, heldWindows().handler);
  for (const method of ["PUT", "DELETE", "PATCH", "OPTIONS"]) {
    const { status, headers } = await ask(port, PATH, { method, headers: ALICE });
    expect([method, status, headers.allow]).toEqual([method, 405, "GET, HEAD, POST"]);
  }
});

const TLS = "cert_file: server.pem, key_file: server.key, client_ca_file: ca.pem";

test.each([
  ["RequireAndVerifyClientCert", "", ["alice.example"], 200, "alice.example"],
  [
    "RequireAndVerifyClientCert",
    "maintenance_users: [alice.example]",
    ["alice.example"],
    200,
    "alice.example",
  ],
  ["RequireAndVerifyClientCert", "maintenance_users: [bob.example]", ["alice.example"], 403, undefined],
  ["RequireAndVerifyClientCert", USERS, ["alice.example"], 200, "alice"],
  ["VerifyClientCertIfGiven", "", ["alice.example"], 403, undefined],
  ["RequireAnyClientCert", "", ["alice.example"], 403, undefined],
  ["RequestClientCert", USERS, ["alice.example"], 200, "alice"],
])("a client with a certificate under %s and %j", async (word, rest, hosts, status, user) => {
  const [server, client] = [await authority.issue(), await authority.issue({ hosts })];
  const { handler } = heldWindows();
  const files = { "server.pem": server.cert, "server.key": server.key, "ca.pem": authority.cert };
  const yaml = `tls_server_config: { ${TLS}, client_auth_type: ${word} }\n${rest}`;
  const { port } = await startSecured(yaml, files, handler);
  const body = JSON.stringify({ start: START });
  const answer = await ask(port, PATH, {
    method: "POST",
    headers: ALICE,
    body,
    ca: authority.cert,
    ...client,
  });
  const by = answer.status === 200 ? JSON.parse(answer.body.toString()).window.by : undefined;
  expect([answer.status, by]).toEqual([status, user]);
});

test("the users who may are those of the latest web configuration", async () => {
  const { port, write, reload } = await startSecured(USERS, {}, heldWindows().handler);
  expect((await change(port, { start: START }))[0]).toBe(200);
  await write("web.yaml", `${USERS}\nmaintenance_users: [prometheus]`);
  expect(await reload()).toEqual([]);
  expect((await change(port, { end: { id: "patchnight" } }))[0]).toBe(403);
  await write("web.yaml", `${USERS}\nmaintenance_users: [prometheus, eve]`);
  expect(await reload()).toEqual(["web.yaml:2:33: maintenance_users[1]: no such user in basic_auth_users"]);
});

test("an end says what is wrong with what the window covered", async () => {
  const polling = { vrrp: { interval: "1s", timeout: "1s" } };
  const appliance = createServer((_, response) => response.end("{}"));
  const port = await listen(appliance);
  const appliances = [{ name: "a", base_url: `http://127.0.0.1:${port}`, allow_http: true }];
  const exporter = await startTestExporter({ config: { appliances, polling }, web: USERS });
  onTestFinished(exporter.stop);
  const fleet = async () => {
    const { body } = await ask(exporter.port, "/api/v1/fleet", { headers: ALICE });
    return JSON.parse(body.toString());
  };
  // What was wrong before the window, or may have been, would not be planned.
  await expect.poll(async () => (await fleet()).clusters[0].state).toBe("up");
  expect((await change(exporter.port, { start: START }))[0]).toBe(200);
  appliance.close();
  appliance.closeAllConnections();
  await expect
    .poll(async () => (await fleet()).problems)
    .toMatchObject([{ kind: "cluster_dark", isPlanned: true }]);
  const [status, answer] = await change(exporter.port, { end: { id: "patchnight" } });
  expect([status, answer.remaining]).toEqual([200, ["a is down: it cannot be reached (connect)"]]);
});
