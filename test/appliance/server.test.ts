import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTcpServer } from "node:net";
import { expect, test } from "vitest";
import { decodeVrrpList, VRRP_LIST } from "../../src/exporter/api/vrrp-list.ts";
import { WEBSITE_DETAILS } from "../../src/exporter/api/website-details.ts";
import { WEBSITE_LIST } from "../../src/exporter/api/website-list.ts";
import { WEBSITE_TEST } from "../../src/exporter/api/website-test.ts";
import { decodeWebsiteTest } from "../../src/exporter/api/website-test.ts";
import { CARP0, CLOSED_PORT, listen, query, startAppliance, websiteOf } from "./support.ts";

test("lists the VRRP interfaces as they are at each request", async () => {
  let interfaces = [CARP0];
  const { port } = await startAppliance({ vrrp: () => Promise.resolve({ ok: true, interfaces }) });
  const first = await query(port, VRRP_LIST.path());
  expect(first).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
  expect(first.body).toBe(
    '{"carp0":{"advskew":"50","alias":[],"carppeer":"224.0.0.18","if":"eth1","netmask":"255.255.255.0",' +
      '"priority":"204","state_current":"MASTER","type":"1","vhid":"2","vip":"192.0.2.100"}}',
  );
  interfaces = [{ ...CARP0, state: "BACKUP" }];
  const decoded = decodeVrrpList(Buffer.from((await query(port, VRRP_LIST.path())).body), (text) => text);
  expect(decoded.ok && decoded.value.interfaces[0]?.state).toBe("BACKUP");
});

test("tests a website for real", async () => {
  const httpPort = await listen(
    createServer((_, response) => {
      response.sendDate = false;
      response.writeHead(302, { Location: "https://www.example.org/" }).end();
    }),
  );
  const { port } = await startAppliance({ websites: [websiteOf({ id: 12, httpPort })] });
  const answer = await query(port, WEBSITE_TEST.path(12));
  expect(answer).toMatchObject({ status: 200, headers: { "content-type": "application/json" } });
  expect(answer.body).toBe(
    '"HTTP CONNECT ------------------------------------------------- HTTP\\n' +
      "HTTP\\/1.1 302 Found\\nLocation: https:\\/\\/www.example.org\\/\\nConnection: close\\n\\n" +
      "HTTP CONNECT ------------------------------------------------- HTTPS\\n" +
      `connect ECONNREFUSED 127.0.0.1:${CLOSED_PORT}\\n\\n"`,
  );
  const decoded = decodeWebsiteTest(Buffer.from(answer.body), (text) => text);
  expect(decoded.ok && decoded.value.blocks.map(({ status }) => status)).toEqual([302, 0]);
});

test("lists its websites and shows their details, with the state of the servers behind them", async () => {
  const backend = await listen(createServer());
  const shop = websiteOf({
    id: 12,
    bind: ["192.0.2.10"],
    servers: [
      { protocol: "both", host: "127.0.0.1", port: backend, role: "active" },
      { protocol: "http", host: "127.0.0.1", port: CLOSED_PORT, role: "backup" },
    ],
  });
  const { port } = await startAppliance({ websites: [shop, websiteOf({ id: 2 })] });
  expect(await query(port, WEBSITE_LIST.path())).toMatchObject({ status: 200, body: '["2","12"]' });
  expect((await query(port, WEBSITE_DETAILS.path(12))).body).toBe(
    '{"bind":["192.0.2.10"],"deployment":"1","id":"12","mirror_of":"0","mode":"1","name":"shop",' +
      `"rhost":[["both","127.0.0.1","${backend}","1","1","443"],["http","127.0.0.1","1","2","0","443"]],` +
      '"sec":{"ts":"1"},"status":"1","vhost":{"as":"","name":"127.0.0.1","port":"1","port2":"1",' +
      '"proto":"both","proxy_protocol_enabled":"0"}}',
  );
});

test("lists no interfaces as an empty object and no websites as an empty array, and has no details of an unknown one", async () => {
  const { port } = await startAppliance();
  expect(await query(port, VRRP_LIST.path())).toMatchObject({ status: 200, body: "{}" });
  expect(await query(port, WEBSITE_LIST.path())).toMatchObject({ status: 200, body: "[]" });
  expect(await query(port, WEBSITE_DETAILS.path(1))).toMatchObject({ status: 404 });
  expect(await query(port, "/api/v1/website/one")).toMatchObject({ status: 400 });
});

test("replays replies, and closes the connection where there was none", async () => {
  const details = { status: 503, contentType: "text/html", body: "<html>" };
  const replay = new Map([
    [WEBSITE_DETAILS.path(7), details],
    [WEBSITE_TEST.path(7), undefined],
  ]);
  const { port } = await startAppliance({ replay, websites: [websiteOf({ id: 7 })] });
  expect(await query(port, WEBSITE_DETAILS.path(7))).toMatchObject({
    status: 503,
    headers: { "content-type": "text/html" },
    body: "<html>",
  });
  await expect(query(port, WEBSITE_TEST.path(7))).rejects.toThrow("other side closed");
  expect(await query(port, WEBSITE_LIST.path())).toMatchObject({ status: 200, body: '["7"]' });
  expect(await query(port, WEBSITE_DETAILS.path(7), { auth: null })).toMatchObject({ status: 401 });
});

test("can lack the list and the details, as older firmware does", async () => {
  const { port } = await startAppliance({ websites: [websiteOf({})], hasWebsiteList: false });
  expect(await query(port, WEBSITE_LIST.path())).toMatchObject({ status: 404 });
  expect(await query(port, WEBSITE_DETAILS.path(1))).toMatchObject({ status: 404 });
  expect(await query(port, WEBSITE_TEST.path(1))).toMatchObject({ status: 200 });
});

test.each([
  ["no", undefined],
  ["a wrong password", basic("monitor:wrong")],
  ["a wrong user", basic("nobody:pass:word")],
  ["another user's password", basic("monitor:other")],
  ["other", "Bearer bW9uaXRvcjpwYXNzOndvcmQ="],
  ["malformed", "Basic ***"],
])("rejects %s credentials for every request", async (_, authorization) => {
  const { port } = await startAppliance();
  const options = { auth: null, headers: authorization === undefined ? {} : { authorization } };
  for (const path of [VRRP_LIST.path(), "/nowhere"]) {
    expect(await query(port, path, options)).toMatchObject({
      status: 401,
      headers: {
        "content-type": "application/json",
        "www-authenticate": 'Basic realm="management API", charset="UTF-8"',
      },
      body: '{"error":"credentials are missing or wrong"}',
    });
  }
});

function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials).toString("base64")}`;
}

test("accepts the credentials of every user, and the scheme in any case", async () => {
  const { port } = await startAppliance();
  expect(await query(port, VRRP_LIST.path(), { auth: "admin:other" })).toMatchObject({ status: 200 });
  const authorization = basic("monitor:pass:word").replace("Basic", "BASIC");
  expect(await query(port, VRRP_LIST.path(), { auth: null, headers: { authorization } })).toMatchObject({
    status: 200,
  });
});

test.each([
  [404, "no such path", "/"],
  [404, "no such path", "/api/v2/interface/virtual"],
  [404, "no such path", "/api/v1/website/1/test/"],
  ...[0, 2, -1, 1e20].map((id) => [404, "no such website", WEBSITE_TEST.path(id)] as const),
  ...["abc", "1.5", "", "0x1"].map(
    (id) => [400, "the website id is not an integer", `/api/v1/website/${id}/test`] as const,
  ),
  [503, "keepalived is not running", VRRP_LIST.path()],
  [503, "keepalived is not running", `${VRRP_LIST.path()}?pretty=1`],
] as const)("answers %d, %s: %s", async (status, error, path) => {
  const { port } = await startAppliance({
    vrrp: () => Promise.resolve({ ok: false, reason: "keepalived is not running" }),
    websites: [websiteOf({})],
  });
  expect(await query(port, path)).toMatchObject({ status, body: JSON.stringify({ error }) });
});

test.each(["POST", "DELETE", "HEAD"])("rejects %s", async (method) => {
  const { port } = await startAppliance();
  for (const path of [VRRP_LIST.path(), WEBSITE_TEST.path(1)]) {
    expect(await query(port, path, { method })).toMatchObject({
      status: 405,
      headers: { allow: "GET" },
      body: method === "HEAD" ? "" : '{"error":"method not allowed"}',
    });
  }
});

test("reports a bug and continues to answer", async () => {
  const bugs: unknown[] = [];
  const bug = new Error("secret detail");
  const { port } = await startAppliance({
    vrrp: () => Promise.reject(bug),
    onBug: (error) => bugs.push(error),
  });
  expect(await query(port, VRRP_LIST.path())).toMatchObject({
    status: 500,
    body: '{"error":"internal error"}',
  });
  expect(await query(port, "/")).toMatchObject({ status: 404 });
  expect(bugs).toEqual([bug]);
});

test("stops while a website is silent, and drops that website's connection", async () => {
  const website = createTcpServer((socket) => socket.on("error", () => socket.destroy()).resume());
  const httpPort = await listen(website);
  const { server, port } = await startAppliance({ websites: [websiteOf({ protocol: "http", httpPort })] });
  const connected = once(website, "connection");
  const failed = query(port, WEBSITE_TEST.path(1)).catch((error: unknown) => error);
  const [socket] = await connected;
  const dropped = once(socket, "close");
  await server.stop();
  await dropped;
  expect(await failed).toMatchObject({ message: "other side closed" });
  await expect(query(port, VRRP_LIST.path())).rejects.toThrow("ECONNREFUSED");
});
