import { once } from "node:events";
import { createServer } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import type { FailureCode } from "../../../src/exporter/api/advice.ts";
import type { FailureReason } from "../../../src/exporter/api/failure.ts";
import { createIntermediateChain, selfSigned } from "../../support/certificates.ts";
import type { Behaviour } from "../../support/fault-server.ts";
import {
  answering,
  AUTHORITY,
  clientOf,
  LONG_MS,
  OK,
  proxyAt,
  serve,
  servePlain,
  trusting,
} from "./support.ts";

type Found = readonly [reason: FailureReason, code: FailureCode | undefined, message: string];

function head(status: string, ...fields: readonly string[]): string {
  return [`HTTP/1.1 ${status}`, "Content-Length: 2", ...fields, "", "{}"].join("\r\n");
}

const gzipped = gzipSync("{}");

test.each<readonly [string, Behaviour, ...Found]>([
  [
    "a redirect",
    answering(head("308 Permanent Redirect", "Location: https://waf.example:8443/mgmt")),
    "http_status",
    "redirect",
    "answered with status 308, a redirect to https://waf.example:8443/mgmt",
  ],
  [
    "a redirect without a target",
    answering(head("302 Found")),
    "http_status",
    "redirect",
    "answered with status 302",
  ],
  [
    "a redirect of single sign-on",
    answering(head("302 Found", "Location: https://user:secret@sso.example/login?token=secret#a@b")),
    "http_status",
    "redirect",
    "answered with status 302, a redirect to https://sso.example/login",
  ],
  [
    "a redirect to a long target",
    answering(head("302 Found", `Location: ${"x".repeat(300)}`)),
    "http_status",
    "redirect",
    `answered with status 302, a redirect to ${"x".repeat(200)}`,
  ],
  [
    "Digest",
    answering(head("401 Unauthorized", 'WWW-Authenticate: Digest realm="Basic", nonce="1"')),
    "auth",
    "only_basic",
    "answered with status 401 and asks for Digest, not Basic",
  ],
  [
    "Digest or Basic",
    answering(head("401 Unauthorized", "WWW-Authenticate: Digest a=b", 'WWW-Authenticate: Basic realm="x"')),
    "auth",
    undefined,
    "answered with status 401",
  ],
  ["no scheme", answering(head("401 Unauthorized")), "auth", undefined, "answered with status 401"],
  [
    "compression",
    answering(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${gzipped.length}\r\n\r\n`),
    "decode",
    "encoded",
    "the answer is encoded (Content-Encoding: gzip), although the exporter asked for identity",
  ],
  [
    "an end without an answer",
    ({ socket, onRequest }) => onRequest(() => socket.end()),
    "connect",
    "closed",
    "the connection was closed without an answer",
  ],
  [
    "an end in the answer",
    ({ socket, onRequest }) => onRequest(() => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{}")),
    "protocol",
    undefined,
    "UND_ERR_SOCKET: other side closed",
  ],
])("%s is told apart: %#", async (_, behaviour, reason, code, message) => {
  const server = await servePlain(behaviour);
  const answer = await clientOf(`http://127.0.0.1:${server.port}`).get("/x", LONG_MS);
  if (answer.ok) throw new Error("the poll succeeded");
  expect([answer.failure.reason, answer.failure.code, answer.failure.message]).toEqual([
    reason,
    code,
    message,
  ]);
});

test("an encoding of identity is none", async () => {
  const server = await servePlain(answering(head("200 OK", "Content-Encoding: Identity")));
  expect(await clientOf(`http://127.0.0.1:${server.port}`).get("/x", LONG_MS)).toMatchObject({ ok: true });
});

const CHAIN = await createIntermediateChain();
const LONE = await selfSigned("lone");
const FUTURE = await AUTHORITY.issue({ notBefore: new Date(Date.now() + 86_400_000) });
const CLIENT = await AUTHORITY.issue({ isForServers: false });
const ELSEWHERE = await AUTHORITY.issue({ hosts: ["waf.example"] });
const SENDING_ALL = { key: CHAIN.leaf.key, cert: `${CHAIN.leaf.cert}\n${CHAIN.intermediate}` };

test.each([
  ["missing_issuer", CHAIN.leaf, CHAIN.root, "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
  ["unknown_authority", SENDING_ALL, AUTHORITY.cert, "UNABLE_TO_GET_ISSUER_CERT_LOCALLY"],
  ["self_signed", LONE, AUTHORITY.cert, "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["not_yet_valid", FUTURE, AUTHORITY.cert, "CERT_NOT_YET_VALID"],
  ["wrong_purpose", CLIENT, AUTHORITY.cert, "INVALID_PURPOSE"],
  ["other_name", ELSEWHERE, AUTHORITY.cert, "ERR_TLS_CERT_ALTNAME_INVALID"],
] as const)("a certificate that is %s is told apart", async (code, pair, ca, words) => {
  const server = await serve(answering(OK), pair);
  const client = clientOf(`https://127.0.0.1:${server.port}`, { http: { tls: trusting({ ca }) } });
  const message = `the certificate is not trusted: ${words}`;
  expect(await client.get("/x", LONG_MS)).toEqual({ ok: false, failure: { reason: "tls", code, message } });
});

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "a client certificate that is refused with %s is told apart",
  async (version) => {
    const server = await serve(answering(OK), {
      ...(await AUTHORITY.issue()),
      requestCert: true,
      rejectUnauthorized: true,
      ca: AUTHORITY.cert,
      minVersion: version,
      maxVersion: version,
    });
    const answer = await clientOf(`https://127.0.0.1:${server.port}`).get("/x", LONG_MS);
    expect(answer).toMatchObject({
      failure: { reason: "tls", code: version === "TLSv1.3" ? "client_certificate" : "no_common_cipher" },
    });
  },
);

test.each([
  ["127.0.0.1:1", "connect", "refused"],
  ["127.255.255.255:9", "connect", "unreachable"],
] as const)("that %s cannot be reached is told apart", async (host, reason, code) => {
  const answer = await clientOf(`http://${host}`).get("/x", LONG_MS);
  expect(answer).toMatchObject({ failure: { reason, code } });
});

const noName = () =>
  Promise.reject(Object.assign(new Error("getaddrinfo ENOTFOUND waf.example"), { code: "ENOTFOUND" }));

test("an unknown name is told apart", async () => {
  const answer = await clientOf("http://waf.example", { lookup: noName }).get("/x", LONG_MS);
  expect(answer).toMatchObject({ failure: { reason: "dns", code: "unknown_host" } });
});

/** The fatal alert 112, as nginx with ssl_reject_handshake sends it. @see RFC 6066, 3 */
const UNRECOGNIZED_NAME = Buffer.from([21, 3, 3, 0, 2, 2, 112]);

test("a peer that does not answer to the name is told apart", async () => {
  const server = createServer((socket) => socket.once("data", () => socket.end(UNRECOGNIZED_NAME)));
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = z.object({ port: z.number() }).parse(server.address());
  const answer = await clientOf(`https://127.0.0.1:${port}`).get("/x", LONG_MS);
  expect(answer).toMatchObject({ failure: { reason: "tls", code: "unknown_name" } });
});

test("TLS with a port of HTTP, and a proxy that demands credentials, are told apart", async () => {
  const plain = await servePlain(({ socket }) => void socket.write(head("400 Bad Request")));
  const noTls = await clientOf(`https://127.0.0.1:${plain.port}`).get("/x", LONG_MS);
  expect(noTls).toMatchObject({ failure: { reason: "tls", code: "no_tls" } });
  const proxy = await servePlain(answering(head("407 Proxy Authentication Required")));
  const refused = await clientOf("http://192.0.2.1", { http: { proxy: proxyAt(proxy.port) } }).get(
    "/x",
    LONG_MS,
  );
  expect(refused).toMatchObject({ failure: { reason: "proxy", code: "proxy_auth" } });
});
