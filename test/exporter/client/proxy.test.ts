import { connect } from "node:net";
import { expect, test } from "vitest";
import type { ApplianceClient, ReceivedAnswer } from "../../../src/exporter/client/client.ts";
import type { Lookup } from "../../../src/exporter/client/lookup.ts";
import type { Behaviour, FaultServer } from "../../support/fault-server.ts";
import {
  answering,
  clientOf,
  LONG_MS,
  OK,
  probedAfterSeconds,
  proxyAt,
  serve,
  servePlain,
  shortly,
  trusting,
} from "./support.ts";

/** Opens every tunnel to the given port here, whatever the host. */
function tunnelling(answer = "HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n"): Behaviour {
  return ({ socket, onRequest }) => {
    onRequest(({ path }) => {
      const target = connect(Number(path.slice(path.lastIndexOf(":") + 1)), "127.0.0.1");
      target.on("error", () => socket.destroy());
      target.once("connect", () => {
        socket.removeAllListeners("data");
        socket.write(answer);
        socket.pipe(target).pipe(socket);
      });
    });
  };
}

function viaProxy(proxy: FaultServer, target: string, credentials?: string) {
  return clientOf(target, { http: { proxy: proxyAt(proxy.port, credentials) } });
}

test("polls go through one tunnel of the proxy, with TLS from end to end", async () => {
  const appliance = await serve(answering(OK));
  const proxy = await servePlain(tunnelling());
  const client = viaProxy(proxy, `https://127.0.0.1:${appliance.port}`, "user:p@ss");
  for (let i = 0; i < 3; i += 1) expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
  expect(proxy.requests.map(({ head }) => head.split("\r\n"))).toEqual([
    [
      `CONNECT 127.0.0.1:${appliance.port} HTTP/1.1`,
      `Host: 127.0.0.1:${appliance.port}`,
      `Proxy-Authorization: Basic ${Buffer.from("user:p@ss").toString("base64")}`,
    ],
  ]);
  expect(appliance.requests).toHaveLength(3);
  expect(appliance.requests[0]?.head).not.toMatch(/proxy-authorization/i);
  expect(await probedAfterSeconds(proxy.port)).toBeLessThanOrEqual(30);
});

async function peerOf(client: ApplianceClient): Promise<string | undefined> {
  const answers: ReceivedAnswer[] = [];
  const outcome = await client.get("/x", LONG_MS, { onAnswer: (received) => void answers.push(received) });
  if (!outcome.ok) throw new Error(outcome.failure.message);
  expect(answers[0]?.peerAddress).toBe(outcome.value.peerAddress);
  return outcome.value.peerAddress;
}

const LOOPBACK: Lookup = () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]);

test("an answer has the address that sent it, as far as the proxy does not choose it", async () => {
  const { port } = await serve(answering(OK));
  const proxy = await servePlain(tunnelling());
  const insecure = { tls: { ...trusting(), insecureSkipVerify: true } };
  const direct = clientOf(`https://localhost:${port}`, { lookup: LOOPBACK, http: insecure });
  // The second request uses the connection of the first.
  expect([await peerOf(direct), await peerOf(direct)]).toEqual(["127.0.0.1", "127.0.0.1"]);
  const plain = await servePlain(answering(OK));
  expect(await peerOf(clientOf(`http://127.0.0.1:${plain.port}`))).toBe("127.0.0.1");
  expect(await peerOf(clientOf(`http://[::ffff:127.0.0.1]:${plain.port}`))).toBe("127.0.0.1");
  const tunnelled = { ...insecure, proxy: proxyAt(proxy.port) };
  expect(await peerOf(clientOf(`https://localhost:${port}`, { http: tunnelled }))).toBeUndefined();
  expect(await peerOf(clientOf(`https://192.0.2.11:${port}`, { http: tunnelled }))).toBe("192.0.2.11");
  expect(await peerOf(clientOf(`https://[2001:DB8:0::11]:${port}`, { http: tunnelled }))).toBe(
    "2001:db8::11",
  );
});

test("the proxy looks up names, and an IPv6 address is in brackets", async () => {
  const proxy = await servePlain(answering("HTTP/1.1 502 Bad Gateway\r\n\r\n"));
  await viaProxy(proxy, "https://waf.invalid").get("/x", LONG_MS);
  await viaProxy(proxy, "https://[2001:db8::12]:4849/mgmt").get("/x", LONG_MS);
  expect(proxy.requests.map(({ path }) => path)).toEqual(["waf.invalid:443", "[2001:db8::12]:4849"]);
});

test("an appliance at an IPv6 address is polled through the proxy, and its certificate is verified for that address", async () => {
  const appliance = await serve(answering(OK));
  const proxy = await servePlain(tunnelling());
  expect(shortly(await viaProxy(proxy, `https://[::1]:${appliance.port}`).get("/x", LONG_MS))).toBe("{}");
  expect(shortly(await viaProxy(proxy, `https://[::2]:${appliance.port}`).get("/x", LONG_MS))).toBe("tls");
});

test("unexpected bytes right after the proxy's answer end the poll at once, on one connection", async () => {
  const early = "HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 500 Early\r\nContent-Length: 0\r\n\r\n";
  const proxy = await servePlain(answering(early));
  const outcome = await viaProxy(proxy, "http://192.0.2.1:4849").get("/x", LONG_MS);
  expect(["protocol", "proxy", "http_status"]).toContain(shortly(outcome));
  expect(proxy.connections()).toBeLessThanOrEqual(2);
});

test.each<{ name: string; behaviour: Behaviour }>([
  { name: "answers without an end", behaviour: answering(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(20_000)}`) },
  {
    name: "closes in its answer",
    behaviour: ({ socket, onRequest }) => onRequest(() => void socket.end("HTTP/1.1 200")),
  },
])(
  "a proxy that $name makes the poll fail as proxy, before the deadline and without a retry",
  async ({ behaviour }) => {
    const proxy = await servePlain(behaviour);
    expect(shortly(await viaProxy(proxy, "https://192.0.2.1:4849").get("/x", LONG_MS))).toBe("proxy");
    expect(proxy.connections()).toBe(1);
  },
);

test.each([
  ["does not resolve", "ENOTFOUND", "dns"],
  ["cannot be looked up for lack of descriptors", "EMFILE", "local"],
])("a proxy whose name %s makes the poll fail: %s is %s", async (_, code, reason) => {
  const client = clientOf("https://192.0.2.1:4849", {
    http: { proxy: { ...proxyAt(3128), host: "proxy.invalid" } },
    lookup: () => Promise.reject(Object.assign(new Error(code), { code })),
  });
  expect(shortly(await client.get("/x", LONG_MS))).toBe(reason);
});

test("an error inside the tunnel is attributed to the appliance, not to the proxy", async () => {
  const appliance = await servePlain(answering("SSH-2.0-OpenSSH_9.6\r\n"));
  const proxy = await servePlain(tunnelling());
  appliance.behave(({ socket }) => void socket.write("SSH-2.0-OpenSSH_9.6\r\n"));
  const client = viaProxy(proxy, `https://127.0.0.1:${appliance.port}`);
  expect(shortly(await client.get("/x", LONG_MS))).toBe("tls");
});
