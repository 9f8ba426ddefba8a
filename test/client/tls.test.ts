import { X509Certificate } from "node:crypto";
import { TLSSocket, type TlsOptions } from "node:tls";

import { describe, expect, test } from "vitest";

import type { TlsClientConfig } from "../../src/config/config.ts";
import { Secret } from "../../src/support/secret.ts";
import { createSecureContexts } from "../../src/client/tls.ts";
import { systemClock } from "../../src/support/clock.ts";
import { createAuthority, createIntermediateChain } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import type { Behaviour } from "../support/fault-server.ts";
import { answering, AUTHORITY, clientOf, LEAF, LONG_MS, OK, serve, shortly, trusting } from "./support.ts";

const PIN = fingerprint(LEAF.cert);
const OTHER_PIN = "00".repeat(32);
const CHAIN = await createIntermediateChain();
const STRANGER = await createAuthority("Stranger");
const ELSEWHERE = await AUTHORITY.issue({ hosts: ["waf.example"] });
const HOUR_MS = 3_600_000;
const NEXT = await AUTHORITY.issue();
const EXPIRED = await AUTHORITY.issue({
  notBefore: new Date(Date.now() - 2 * HOUR_MS),
  notAfter: new Date(Date.now() - HOUR_MS),
});

function fingerprint(pem: string): string {
  return new X509Certificate(pem).fingerprint256.replaceAll(":", "").toLowerCase();
}

const KNOWN = { path: "/etc/appliance-exporter/known", appliance: "waf 1" };

interface Case {
  readonly name: string;
  readonly server: TlsOptions;
  readonly tls: Partial<TlsClientConfig>;
  readonly outcome: string;
}

test.each<Case>([
  { name: "a certificate by a trusted authority", server: LEAF, tls: {}, outcome: "{}" },
  { name: "a certificate by a stranger", server: LEAF, tls: { ca: STRANGER.cert }, outcome: "tls" },
  {
    name: "a certificate by a trusted authority that is no root",
    server: CHAIN.leaf,
    tls: { ca: CHAIN.intermediate },
    outcome: "{}",
  },
  { name: "the trusted certificate itself", server: LEAF, tls: { ca: LEAF.cert }, outcome: "{}" },
  { name: "a sibling of the trusted certificate", server: LEAF, tls: { ca: ELSEWHERE.cert }, outcome: "tls" },
  {
    name: "server_name: the name that the certificate is for",
    server: ELSEWHERE,
    tls: { serverName: "waf.example" },
    outcome: "{}",
  },
  {
    name: "server_name: a name that it is not for",
    server: LEAF,
    tls: { serverName: "waf.example" },
    outcome: "tls",
  },
  {
    name: "insecure_skip_verify",
    server: EXPIRED,
    tls: { ca: undefined, insecureSkipVerify: true },
    outcome: "{}",
  },
  {
    name: "a pin without a trusted authority",
    server: LEAF,
    tls: { ca: undefined, certificateSha256: [OTHER_PIN, PIN] },
    outcome: "{}",
  },
  {
    name: "another pin",
    server: LEAF,
    tls: { ca: undefined, certificateSha256: [OTHER_PIN] },
    outcome: "tls",
  },
  {
    name: "another pin beside a trusted authority",
    server: LEAF,
    tls: { certificateSha256: [OTHER_PIN] },
    outcome: "tls",
  },
  {
    name: "the pin beside an authority that did not sign it",
    server: LEAF,
    tls: { ca: STRANGER.cert, certificateSha256: [PIN] },
    outcome: "{}",
  },
  {
    name: "another pin in spite of insecure_skip_verify",
    server: LEAF,
    tls: { insecureSkipVerify: true, certificateSha256: [OTHER_PIN] },
    outcome: "tls",
  },
  {
    name: "a known certificate without a trusted authority",
    server: EXPIRED,
    tls: { ca: undefined, certificateSha256: [fingerprint(EXPIRED.cert)], knownCertificates: KNOWN },
    outcome: "{}",
  },
  {
    name: "a trusted authority beside a file that does not have the certificate",
    server: LEAF,
    tls: { certificateSha256: [], knownCertificates: KNOWN, insecureSkipVerify: true },
    outcome: "tls",
  },
  {
    name: "a server below min_version",
    server: { ...LEAF, maxVersion: "TLSv1.2" },
    tls: { minVersion: "TLSv1.3" },
    outcome: "tls",
  },
  {
    name: "a server at min_version",
    server: { ...LEAF, maxVersion: "TLSv1.2" },
    tls: { minVersion: "TLSv1.2" },
    outcome: "{}",
  },
])("$name: $outcome", async ({ server: options, tls, outcome }) => {
  const server = await serve(answering(OK), options);
  const client = clientOf(`https://127.0.0.1:${server.port}`, { http: { tls: trusting(tls) } });
  expect(shortly(await client.get("/x", LONG_MS))).toBe(outcome);
  expect(server.requests).toHaveLength(outcome === "{}" ? 1 : 0);
});

test.each<readonly [string, Partial<TlsClientConfig>, string]>([
  [
    "certificate_sha256",
    { certificateSha256: [OTHER_PIN] },
    `the certificate has the SHA-256 ${PIN}, certificate_sha256 is ${OTHER_PIN}`,
  ],
  [
    "a file without the appliance",
    { knownCertificates: KNOWN },
    `the certificate is not known yet, SHA-256 ${PIN}: run appliance-exporter trust 'waf 1'`,
  ],
  [
    "a file with others",
    { knownCertificates: KNOWN, certificateSha256: [OTHER_PIN, "11".repeat(32)] },
    `the certificate has changed to SHA-256 ${PIN} from ${OTHER_PIN} or ${"11".repeat(32)}: if that is expected, run appliance-exporter trust 'waf 1'`,
  ],
])(
  "a certificate that is not in %s fails with its fingerprint and the expected ones",
  async (_, tls, message) => {
    const server = await serve(answering(OK));
    const client = clientOf(`https://127.0.0.1:${server.port}`, { http: { tls: trusting(tls) } });
    expect(await client.get("/x", LONG_MS)).toEqual({ ok: false, failure: { reason: "tls", message } });
    expect(server.requests).toEqual([]);
  },
);

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "a client certificate that the server requires with %s is sent, and a missing one is tls",
  async (version) => {
    const options = {
      ...LEAF,
      ca: AUTHORITY.cert,
      requestCert: true,
      rejectUnauthorized: true,
      minVersion: version,
      maxVersion: version,
    } as const;
    const server = await serve(answering(OK), options);
    const url = `https://127.0.0.1:${server.port}`;
    const tls = trusting({ cert: LEAF.cert, key: new Secret(LEAF.key) });
    expect(shortly(await clientOf(url, { http: { tls } }).get("/x", LONG_MS))).toBe("{}");
    expect(shortly(await clientOf(url).get("/x", LONG_MS))).toBe("tls");
  },
);

/** Answers each connection's first request and closes it; records which of them resumed a session. */
function ending(resumed: boolean[]): Behaviour {
  return ({ socket, onRequest }) => {
    resumed.push(socket instanceof TLSSocket && socket.isSessionReused());
    onRequest(() => void socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"));
  };
}

test.each(["TLSv1.2", "TLSv1.3"] as const)(
  "a new connection resumes the session of the one before, and its pinned certificate, with %s",
  async (version) => {
    const resumed: boolean[] = [];
    const server = await serve(ending(resumed), { ...LEAF, minVersion: version, maxVersion: version });
    const tls = trusting({ ca: undefined, certificateSha256: [PIN] });
    const client = clientOf(`https://127.0.0.1:${server.port}`, { http: { tls } });
    for (let i = 0; i < 3; i += 1) expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(resumed).toEqual([false, true, true]);
    expect(client.certificate()?.sha256).toBe(PIN);
  },
);

/** Can switch to another certificate, only for full handshakes: sessions are still resumed. */
async function startReplacing(behaviour: Behaviour, version: "TLSv1.2" | "TLSv1.3") {
  const options = { ticketKeys: Buffer.alloc(48, 1), minVersion: version, maxVersion: version } as const;
  const server = await serve(behaviour, { ...LEAF, ...options });
  return { server, replace: () => server.secure({ ...NEXT, ...options }) };
}

function laterClock() {
  let laterMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs };
  return { clock, pass: (ms: number) => void (laterMs += ms) };
}

describe.each(["TLSv1.2", "TLSv1.3"] as const)("a certificate that is replaced, with %s,", (version) => {
  test.each([
    { name: "a kept connection", behaviour: answering(OK) },
    { name: "resumed sessions", behaviour: ending([]) },
  ])("behind $name is seen within the hour, by one new connection", async ({ behaviour }) => {
    const { server, replace } = await startReplacing(behaviour, version);
    const { clock, pass } = laterClock();
    const client = clientOf(`https://127.0.0.1:${server.port}`, { clock });
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(client.certificate()?.sha256).toBe(PIN);
    const before = server.connections();
    replace();
    pass(HOUR_MS);
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(client.certificate()?.sha256).toBe(fingerprint(NEXT.cert));
    expect(server.connections()).toBe(before + 1);
    await eventually(() => expect(server.openConnections()).toBeLessThanOrEqual(1));
  });

  test.each([
    { name: "a kept connection", behaviour: answering(OK) },
    { name: "resumed sessions", behaviour: ending([]) },
  ])("behind $name fails its pin within the hour, and from then on", async ({ behaviour }) => {
    const { server, replace } = await startReplacing(behaviour, version);
    const { clock, pass } = laterClock();
    const tls = trusting({ certificateSha256: [PIN] });
    const client = clientOf(`https://127.0.0.1:${server.port}`, { clock, http: { tls } });
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    replace();
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    pass(HOUR_MS);
    for (let nth = 0; nth < 2; nth += 1) expect(shortly(await client.get("/x", LONG_MS))).toBe("tls");
    await eventually(() => expect(server.openConnections()).toBe(0));
  });
});

test("a session is never offered to another appliance", async () => {
  const resumed: boolean[] = [];
  const server = await serve(ending(resumed));
  for (let i = 0; i < 2; i += 1) await clientOf(`https://127.0.0.1:${server.port}`).get("/x", LONG_MS);
  expect(resumed).toEqual([false, false]);
});

test("an untrusted certificate is not trusted at the second attempt either", async () => {
  const server = await serve(answering(OK), EXPIRED);
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  for (let i = 0; i < 3; i += 1) expect(shortly(await client.get("/x", LONG_MS))).toBe("tls");
  expect(server.connections()).toBe(3);
  expect(server.requests).toEqual([]);
});

test("the certificate presented last is reported, trusted or not", async () => {
  const server = await serve(answering(OK), EXPIRED);
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  expect(client.certificate()).toBeUndefined();
  await client.get("/x", LONG_MS);
  const { validTo, issuer } = new X509Certificate(EXPIRED.cert);
  expect(client.certificate()).toEqual({
    notAfterSeconds: Date.parse(validTo) / 1_000,
    subject: "CN=localhost",
    issuer,
    sha256: fingerprint(EXPIRED.cert),
  });
});

test("equal TLS settings share one secure context, different ones never", () => {
  const contexts = createSecureContexts();
  const tls = trusting();
  expect(contexts(structuredClone({ ...tls, key: undefined }))).toBe(contexts(tls));
  expect(contexts({ ...tls, minVersion: "TLSv1.3" })).not.toBe(contexts(tls));
  expect(contexts({ ...tls, ca: STRANGER.cert })).not.toBe(contexts(tls));
});
