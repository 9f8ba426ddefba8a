import { X509Certificate } from "node:crypto";
import { TLSSocket, type TlsOptions } from "node:tls";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { TlsClientConfig } from "../../../src/exporter/config/config.ts";
import { Secret } from "../../../src/support/secret.ts";
import type { Signer } from "../../../src/exporter/client/chain.ts";
import { createTlsContexts } from "../../../src/exporter/client/tls.ts";
import {
  createAuthority,
  createIntermediateChain,
  createMutualSigners,
  selfSigned,
  type IntermediateChain,
} from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { createLeapingClock } from "../../support/leaping-clock.ts";
import type { Behaviour } from "../../support/fault-server.ts";
import { answering, AUTHORITY, clientOf, LEAF, LONG_MS, OK, serve, shortly, trusting } from "./support.ts";

const PIN = fingerprint(LEAF.cert);
const OTHER_PIN = "00".repeat(32);
const CHAIN = await createIntermediateChain();
const STRANGER = await createAuthority("Stranger");
const ELSEWHERE = await AUTHORITY.issue({ hosts: ["waf.example"] });
const HOUR_MS = 3_600_000;
const NEXT = await AUTHORITY.issue();
const AUTHORITY_NAME = new X509Certificate(AUTHORITY.cert).subject;
const NAMELESS = await selfSigned();
const EXPIRED = await AUTHORITY.issue({
  notBefore: new Date(Date.now() - 2 * HOUR_MS),
  notAfter: new Date(Date.now() - HOUR_MS),
});

function fingerprint(pem: string): string {
  return new X509Certificate(pem).fingerprint256;
}

const KNOWN = { path: "/etc/appliance-exporter/known", appliance: "waf 1" };

const NO_CA = { ca: undefined };
const BELOW_1_3 = { ...LEAF, maxVersion: "TLSv1.2" } as const;

test.each<readonly [name: string, server: TlsOptions, tls: Partial<TlsClientConfig>, outcome: string]>([
  ["a certificate by a trusted authority", LEAF, {}, "{}"],
  ["one by a trusted authority that is no root", CHAIN.leaf, { ca: CHAIN.intermediate }, "{}"],
  ["the trusted certificate itself", LEAF, { ca: LEAF.cert }, "{}"],
  ["a sibling of the trusted certificate", LEAF, { ca: ELSEWHERE.cert }, "tls"],
  ["server_name: the name that the certificate is for", ELSEWHERE, { serverName: "waf.example" }, "{}"],
  ["insecure_skip_verify", EXPIRED, { ...NO_CA, insecureSkipVerify: true }, "{}"],
  ["a pin without an authority", LEAF, { ...NO_CA, certificateSha256: [OTHER_PIN, PIN] }, "{}"],
  ["another pin beside a trusted authority", LEAF, { certificateSha256: [OTHER_PIN] }, "tls"],
  ["the pin beside another authority", LEAF, { ca: STRANGER.cert, certificateSha256: [PIN] }, "{}"],
  [
    "another pin in spite of insecure_skip_verify",
    LEAF,
    { insecureSkipVerify: true, certificateSha256: [OTHER_PIN] },
    "tls",
  ],
  [
    "a known certificate without an authority",
    EXPIRED,
    { ...NO_CA, certificateSha256: [fingerprint(EXPIRED.cert)], knownCertificates: KNOWN },
    "{}",
  ],
  [
    "a trusted authority beside a file that does not have the certificate",
    LEAF,
    { knownCertificates: KNOWN, insecureSkipVerify: true },
    "tls",
  ],
  ["a server below min_version", BELOW_1_3, { minVersion: "TLSv1.3" }, "tls"],
  ["a server at min_version", BELOW_1_3, { minVersion: "TLSv1.2" }, "{}"],
])("%s", async (_, options, tls, outcome) => {
  const server = await serve(answering(OK), options);
  const client = clientOf(`https://127.0.0.1:${server.port}`, { http: { tls: trusting(tls) } });
  expect(shortly(await client.get("/x", LONG_MS))).toBe(outcome);
  expect(server.requests).toHaveLength(outcome === "{}" ? 1 : 0);
});

test.each([
  ["localhost", {}, ["localhost"]],
  ["127.0.0.1", {}, []],
  ["127.0.0.1", { serverName: "waf.example" }, ["waf.example"]],
])(
  "a handshake with %s and %j asks for the server's name, never for an address: %j",
  async (host, tls, asked) => {
    const names: string[] = [];
    const SNICallback = (name: string, done: (error: null) => void): void => {
      names.push(name);
      done(null);
    };
    const server = await serve(answering(OK), { ...LEAF, SNICallback });
    const http = { tls: trusting({ ...tls, insecureSkipVerify: true }) };
    expect(shortly(await clientOf(`https://${host}:${server.port}`, { http }).get("/x", LONG_MS))).toBe("{}");
    expect(names).toEqual(asked);
  },
);

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
    expect(await client.get("/x", LONG_MS)).toEqual({
      ok: false,
      failure: { reason: "tls", code: "not_pinned", message },
    });
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

describe.each(["TLSv1.2", "TLSv1.3"] as const)("a certificate that is replaced, with %s,", (version) => {
  test.each([
    { name: "a kept connection", behaviour: answering(OK) },
    { name: "resumed sessions", behaviour: ending([]) },
  ])("behind $name is seen within the hour, by one new connection", async ({ behaviour }) => {
    const { server, replace } = await startReplacing(behaviour, version);
    const clock = createLeapingClock();
    const client = clientOf(`https://127.0.0.1:${server.port}`, { clock });
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(client.certificate()?.sha256).toBe(PIN);
    const before = server.connections();
    replace();
    clock.leap(HOUR_MS);
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    expect(client.certificate()?.sha256).toBe(fingerprint(NEXT.cert));
    expect(server.connections()).toBe(before + 1);
    await eventually(() => expect(server.openConnections()).toBeLessThanOrEqual(1));
  });

  test("fails its pin within the hour, and from then on", async () => {
    const { server, replace } = await startReplacing(ending([]), version);
    const clock = createLeapingClock();
    const tls = trusting({ certificateSha256: [PIN] });
    const client = clientOf(`https://127.0.0.1:${server.port}`, { clock, http: { tls } });
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
    replace();
    clock.leap(HOUR_MS);
    for (let nth = 0; nth < 2; nth += 1) expect(shortly(await client.get("/x", LONG_MS))).toBe("tls");
  });
});

test.each([
  { random: 0, afterMinutes: 55 },
  { random: 0.99, afterMinutes: 28 },
])(
  "full handshakes are repeated at random times: after $afterMinutes minutes",
  async ({ random, afterMinutes }) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    onTestFinished(() => void vi.restoreAllMocks());
    const server = await serve(answering(OK));
    const clock = createLeapingClock();
    const client = clientOf(`https://127.0.0.1:${server.port}`, { clock });
    await client.get("/x", LONG_MS);
    clock.leap((afterMinutes - 1) * 60_000);
    await client.get("/x", LONG_MS);
    expect(server.connections()).toBe(1);
    clock.leap(60_000);
    await client.get("/x", LONG_MS);
    expect(server.connections()).toBe(2);
  },
);

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

test.each([
  ["trusted or not", EXPIRED, "CN=localhost", AUTHORITY_NAME, "tls"],
  ["with or without a subject", await AUTHORITY.issue({ hasSubject: false }), "", AUTHORITY_NAME, "{}"],
  ["with or without any name", NAMELESS, "", "", "{}"],
])("the certificate presented last is reported, %s", async (_, pair, subject, issuer, outcome) => {
  const server = await serve(answering(OK), pair);
  const tls = trusting(pair === NAMELESS ? { certificateSha256: [fingerprint(pair.cert)] } : {});
  const client = clientOf(`https://127.0.0.1:${server.port}`, { http: { tls } });
  expect(client.certificate()).toBeUndefined();
  expect(shortly(await client.get("/x", LONG_MS))).toBe(outcome);
  const notAfterSeconds = Date.parse(new X509Certificate(pair.cert).validTo) / 1_000;
  expect(client.certificate()).toEqual({
    notAfterSeconds,
    subject,
    issuer,
    sha256: fingerprint(pair.cert),
  });
});

const DAY_MS = 24 * HOUR_MS;
const SOON = new Date(Date.now() + 3 * DAY_MS);
const PAST = new Date(Date.now() - DAY_MS);
const [LONG_CHAIN, SHORT_ROOT, SHORT_MIDDLE, SHORT_LEAF, OLD_MIDDLE, OLD_CHAIN, OLD_ROOT] = await Promise.all(
  [
    createIntermediateChain(),
    createIntermediateChain({ root: SOON }),
    createIntermediateChain({ intermediate: SOON }),
    createIntermediateChain({ intermediate: SOON, leaf: new Date(SOON.getTime() - DAY_MS) }),
    createIntermediateChain({ intermediate: PAST }),
    createIntermediateChain({ intermediate: new Date(PAST.getTime() - DAY_MS), leaf: PAST }),
    createIntermediateChain({ root: PAST }),
  ],
);
const MUTUAL = await createMutualSigners();
const SOON_SECONDS = Math.floor(SOON.getTime() / 1000);

/** What a server sends, which has this chain: its certificate, and these behind it. */
function sending({ leaf }: IntermediateChain, ...behind: readonly string[]): TlsOptions {
  return { key: leaf.key, cert: [leaf.cert, ...behind].join("\n") };
}

test.each<readonly [string, TlsOptions, Partial<TlsClientConfig>, Signer | undefined]>([
  [
    "the intermediate that was sent",
    sending(SHORT_MIDDLE, SHORT_MIDDLE.intermediate),
    { ca: SHORT_MIDDLE.root },
    { role: "intermediate", subject: "CN=an intermediate", notAfterSeconds: SOON_SECONDS },
  ],
  [
    "the authority, which was not sent",
    sending(SHORT_ROOT, SHORT_ROOT.intermediate),
    { ca: SHORT_ROOT.root },
    { role: "authority", subject: "CN=a root", notAfterSeconds: SOON_SECONDS },
  ],
  [
    "an authority that is no root",
    sending(SHORT_MIDDLE),
    { ca: SHORT_MIDDLE.intermediate },
    { role: "authority", subject: "CN=an intermediate", notAfterSeconds: SOON_SECONDS },
  ],
  [
    "none behind an authority that is no root",
    sending(SHORT_ROOT),
    { ca: SHORT_ROOT.intermediate },
    undefined,
  ],
  [
    "none if the certificate itself ends first",
    sending(SHORT_LEAF, SHORT_LEAF.intermediate),
    { ca: SHORT_LEAF.root },
    undefined,
  ],
  [
    "none that is not needed: a cross-signed authority",
    sending(LONG_CHAIN, LONG_CHAIN.intermediate, LONG_CHAIN.crossSigned),
    { ca: LONG_CHAIN.root },
    undefined,
  ],
  [
    "none that is not needed: an intermediate before its renewal",
    sending(LONG_CHAIN, LONG_CHAIN.oldIntermediate, LONG_CHAIN.intermediate),
    { ca: LONG_CHAIN.root },
    undefined,
  ],
  ["none behind two authorities that sign each other", MUTUAL.leaf, { ca: MUTUAL.authorities }, undefined],
  [
    "none of two authorities with one name and key, of which one has expired",
    sending(LONG_CHAIN, LONG_CHAIN.intermediate),
    { ca: `${LONG_CHAIN.crossSigned}\n${LONG_CHAIN.root}` },
    undefined,
  ],
  [
    "none behind a trusted certificate",
    sending(SHORT_MIDDLE, SHORT_MIDDLE.intermediate),
    { ca: SHORT_MIDDLE.leaf.cert },
    undefined,
  ],
  [
    "none behind a pinned certificate",
    sending(SHORT_MIDDLE, SHORT_MIDDLE.intermediate),
    { ca: SHORT_MIDDLE.root, certificateSha256: [fingerprint(SHORT_MIDDLE.leaf.cert)] },
    undefined,
  ],
])("the signer that ends before the certificate is %s", async (_, options, tls, expected) => {
  const server = await serve(answering(OK), options);
  const client = clientOf(`https://127.0.0.1:${server.port}`, { http: { tls: trusting(tls) } });
  expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
  expect(client.certificate()?.endingSigner).toEqual(expected);
});

test("an expired authority behind another intermediate is not taken for the certificate of the appliance", async () => {
  const { crossIntermediate, intermediate, root, oldRoot } = LONG_CHAIN;
  const server = await serve(answering(OK), sending(LONG_CHAIN, crossIntermediate, intermediate));
  const tls = trusting({ ca: `${root}\n${oldRoot}` });
  const client = clientOf(`https://127.0.0.1:${server.port}`, { http: { tls } });
  const message =
    "the certificate is not trusted: CERT_HAS_EXPIRED: a certificate behind it has expired, not the certificate of the appliance";
  expect(await client.get("/x", LONG_MS)).toEqual({
    ok: false,
    failure: { reason: "tls", code: "expired_signer", message },
  });
});

test.each<readonly [string, IntermediateChain, string]>([
  [
    "an intermediate",
    OLD_MIDDLE,
    ": the intermediate CN=an intermediate has expired, not the certificate of the appliance",
  ],
  ["an intermediate and the certificate", OLD_CHAIN, ": the intermediate CN=an intermediate has expired"],
  ["the authority", OLD_ROOT, ": the authority CN=a root has expired, not the certificate of the appliance"],
])("a chain in which %s has expired fails with its name", async (_, chain, words) => {
  const server = await serve(answering(OK), sending(chain, chain.intermediate));
  const client = clientOf(`https://127.0.0.1:${server.port}`, {
    http: { tls: trusting({ ca: chain.root }) },
  });
  const message = `the certificate is not trusted: CERT_HAS_EXPIRED${words}`;
  expect(await client.get("/x", LONG_MS)).toEqual({
    ok: false,
    failure: { reason: "tls", code: "expired_signer", message },
  });
});

test("equal TLS settings share one secure context, different ones never", () => {
  const contexts = createTlsContexts();
  const tls = trusting();
  expect(contexts(structuredClone({ ...tls, key: undefined }))).toBe(contexts(tls));
  expect(contexts({ ...tls, minVersion: "TLSv1.3" })).not.toBe(contexts(tls));
  expect(contexts({ ...tls, ca: STRANGER.cert })).not.toBe(contexts(tls));
});
