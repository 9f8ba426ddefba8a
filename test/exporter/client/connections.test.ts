import type { Lookup } from "../../../src/exporter/client/lookup.ts";
import { expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { createLeapingClock } from "../../support/leaping-clock.ts";
import type { Behaviour } from "../../support/fault-server.ts";
import {
  answering,
  clientOf,
  inlinePassword,
  LONG_MS,
  OK,
  probedAfterSeconds,
  serve,
  servePlain,
  shortly,
} from "./support.ts";

/** Answers the first request of each connection; `end` handles the second. */
function endingAtSecond(end: Behaviour): Behaviour {
  return (connection) => {
    connection.onRequest((_, nth) => {
      if (nth === 1) connection.socket.write(OK);
      else end(connection);
    });
  };
}

test("connections besides the one used last end 20 seconds after their polls; that one is kept", async () => {
  const clock = createLeapingClock();
  let open = 0;
  const server = await servePlain(({ socket, onRequest }) => {
    open += 1;
    socket.once("close", () => (open -= 1));
    onRequest(() => void socket.write(OK));
  });
  const client = clientOf(`http://127.0.0.1:${server.port}`, { clock });
  await Promise.all([1, 2, 3].map(() => client.get("/x", LONG_MS)));
  expect(open).toBe(3);
  clock.leap(20_000);
  await client.get("/x", LONG_MS);
  await eventually(() => expect(open).toBe(1));
  clock.leap(20 * 60_000);
  expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
  expect(server.connections()).toBe(3);
});

test("each request has the path prefix, the credentials and the User-Agent", async () => {
  const server = await serve(answering(OK));
  const client = clientOf(`https://127.0.0.1:${server.port}/mgmt`, {
    http: { basicAuth: inlinePassword("hunter2") },
  });
  await client.get("/api/v1/website/1/test", LONG_MS);
  const lines = server.requests[0]?.head.split("\r\n") ?? [];
  expect(lines[0]).toBe("GET /mgmt/api/v1/website/1/test HTTP/1.1");
  expect(
    lines
      .slice(1)
      .map((line) => line.toLowerCase())
      .toSorted(),
  ).toEqual([
    "accept-encoding: identity",
    "accept: application/json",
    `authorization: basic ${Buffer.from("monitor:hunter2").toString("base64").toLowerCase()}`,
    "connection: keep-alive",
    `host: 127.0.0.1:${server.port}`,
    "user-agent: appliance-exporter/test",
  ]);
});

const TIMEOUT = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n";

test.each<{ name: string; end: Behaviour }>([
  { name: "destroyed", end: ({ socket }) => void socket.destroy() },
  { name: "ended", end: ({ socket }) => void socket.end() },
  { name: "ended with 408", end: ({ socket }) => void socket.end(TIMEOUT) },
  { name: "ended with 408 by HTTP/1.0", end: ({ socket }) => void socket.end("HTTP/1.0 408 \r\n\r\n408") },
  { name: "ended in the middle of a head", end: ({ socket }) => void socket.end(TIMEOUT.slice(0, 20)) },
  { name: "ended in the middle of a status", end: ({ socket }) => void socket.end(TIMEOUT.slice(0, 10)) },
  { name: "left open after 408", end: ({ socket }) => void socket.write(TIMEOUT) },
  { name: "left open after other bytes", end: ({ socket }) => void socket.write("bye\r\n") },
])(
  "an idle connection that is $name as the request arrives is replaced once, and the poll succeeds",
  async ({ end }) => {
    const server = await serve(endingAtSecond(end));
    const client = clientOf(`https://127.0.0.1:${server.port}`);
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(server.connections()).toBe(2);
    expect(server.requests).toHaveLength(3);
  },
);

test.each<{ name: string; start: (behaviour: Behaviour) => ReturnType<typeof serve>; scheme: string }>([
  { name: "TLS", start: (behaviour) => serve(behaviour), scheme: "https" },
  { name: "plain HTTP", start: servePlain, scheme: "http" },
])("a server that closes every $name connection at once is tried only once", async ({ start, scheme }) => {
  for (const end of [
    ({ socket }) => void socket.destroy(),
    ({ socket }) => void socket.end(),
  ] satisfies Behaviour[]) {
    const server = await start(end);
    const client = clientOf(`${scheme}://127.0.0.1:${server.port}`);
    expect(["connect", "protocol"]).toContain(shortly(await client.get("/x", LONG_MS)));
    expect(server.connections()).toBe(1);
  }
});

test.each<{ name: string; end: Behaviour; reasons: readonly string[] }>([
  { name: "closes", end: ({ socket }) => void socket.destroy(), reasons: ["connect", "protocol"] },
  { name: "sends 408", end: ({ socket }) => void socket.end(TIMEOUT), reasons: ["http_status"] },
  { name: "sends other bytes", end: ({ socket }) => void socket.end("bye\r\n"), reasons: ["protocol"] },
])("a server that $name on each new connection too is tried once more only", async ({ end, reasons }) => {
  let connections = 0;
  const server = await serve((connection) => {
    connections += 1;
    const isFirst = connections === 1;
    connection.onRequest((_, nth) => {
      if (isFirst && nth === 1) connection.socket.write(OK);
      else end(connection);
    });
  });
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  await client.get("/x", LONG_MS);
  expect(reasons).toContain(shortly(await client.get("/x", LONG_MS)));
  expect(server.connections()).toBe(2);
  expect(reasons).toContain(shortly(await client.get("/x", LONG_MS)));
  expect(server.connections()).toBe(3);
});

test.each([
  ["in its body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{", ["connect", "protocol"]],
  ["after an interim answer", "HTTP/1.1 103 Early Hints\r\n\r\n", ["connect", "protocol"]],
  ["after another status", "HTTP/1.1 400 Bad Request\r\n\r\n", ["http_status"]],
])("a request whose answer ends %s is not repeated on another connection", async (_, begun, reasons) => {
  const server = await serve(endingAtSecond(({ socket }) => void socket.end(begun)));
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  await client.get("/x", LONG_MS);
  expect(reasons).toContain(shortly(await client.get("/x", LONG_MS)));
  expect(server.connections()).toBe(1);
});

test("a connection is closed after an answer other than 200", async () => {
  const server = await serve(answering("HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops"));
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  for (let i = 0; i < 2; i += 1) expect(shortly(await client.get("/x", LONG_MS))).toBe("http_status");
  expect(server.connections()).toBe(2);
  await eventually(() => expect(server.openConnections()).toBe(0));
});

test("closing ends idle connections and polls in flight, on fresh and on reused connections", async () => {
  const server = await serve(endingAtSecond(() => {}));
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  await client.get("/x", LONG_MS);
  const hanging = client.get("/hangs", LONG_MS);
  await eventually(() => expect(server.requests).toHaveLength(2));
  client.close();
  expect((await hanging).ok).toBe(false);
  await eventually(() => expect(server.openConnections()).toBe(0));
  expect(server.connections()).toBe(1);
});

test("a closed client opens no connection", async () => {
  const server = await serve(answering(OK));
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  const late = client.get("/x", LONG_MS);
  client.close();
  expect((await late).ok).toBe(false);
  expect((await client.get("/x", LONG_MS)).ok).toBe(false);
  expect(server.connections()).toBe(0);
});

const LOOPBACK: Lookup = async () => [
  { address: "::1", family: 6 },
  { address: "127.0.0.1", family: 4 },
];

test.each([
  { name: "plain HTTP", start: servePlain, url: "http://127.0.0.1" },
  { name: "TLS", start: (behaviour: Behaviour) => serve(behaviour), url: "https://127.0.0.1" },
  { name: "plain HTTP to one of several addresses", start: servePlain, url: "http://waf.example" },
])(
  "an idle connection of $name is probed after 30 seconds, so that no firewall forgets it",
  async ({ start, url }) => {
    const server = await start(answering(OK));
    const client = clientOf(`${url}:${server.port}`, { lookup: LOOPBACK });
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(await probedAfterSeconds(server.port)).toBeLessThanOrEqual(30);
  },
);
