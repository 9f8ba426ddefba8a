import type { TlsOptions } from "node:tls";
import { generate } from "selfsigned";
import { expect, test } from "vitest";
import type { TlsClientConfig } from "../../../src/exporter/config/config.ts";
import type { Behaviour } from "../../support/fault-server.ts";
import { answering, clientOf, LEAF, LONG_MS, OK, serve, servePlain, trusting } from "./support.ts";

/** Whatever the version of Node.js, these servers offer what it no longer offers by itself. */
const OLD = { ciphers: "ALL@SECLEVEL=0" };
const WEAK = await generate([{ name: "commonName", value: "old" }], {
  algorithm: "sha256",
  keyType: "rsa",
  keySize: 1024,
  extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
});
const RSA = await generate([{ name: "commonName", value: "old" }], {
  algorithm: "sha256",
  keyType: "rsa",
  keySize: 2048,
  extensions: [{ name: "subjectAltName", altNames: [{ type: 7, ip: "127.0.0.1" }] }],
});
const RSA_PAIR = { cert: RSA.cert, key: RSA.private };

/** Written by `openssl dhparam 1024`. */
const DH_1024 = `-----BEGIN DH PARAMETERS-----
MIGHAoGBAO758MVXtfyFdClJeQ6r5BjfwnQSe0hVp7Xt65v5xgkOa+ZUNd6bFxWW
4VRlIQ73qvOgq/xyb/1S3l/vbjVAwe1iujbMDKYNGGfgRBbkwiv2Dxqesm8sMSuT
XlPWTv1XtSV4hC2OzvuEj/RCjRZPKqgXVLonrJMjZAvteocEFfznAgEC
-----END DH PARAMETERS-----
`;

const LEGACY = { insecureLegacyTls: true };

test.each<readonly [string, TlsOptions, string]>([
  ["an RSA key of 1024 bits", { cert: WEAK.cert, key: WEAK.private }, "EE certificate key too weak"],
  [
    "Diffie-Hellman of 1024 bits",
    { ...RSA_PAIR, maxVersion: "TLSv1.2", ciphers: "DHE-RSA-AES128-GCM-SHA256@SECLEVEL=0", dhparam: DH_1024 },
    "dh key too small",
  ],
  ["TLS 1.0", { ...LEAF, minVersion: "TLSv1", maxVersion: "TLSv1" }, "tlsv1 alert protocol version"],
  ["TLS 1.1", { ...LEAF, minVersion: "TLSv1.1", maxVersion: "TLSv1.1" }, "tlsv1 alert protocol version"],
])(
  "a device with %s is polled with insecure_legacy_tls, or an old min_version, only",
  async (_, options, words) => {
    const server = await serve(answering(OK), { ...OLD, ...options });
    const ca = String(options.cert) === LEAF.cert ? trusting().ca : String(options.cert);
    const poll = (tls: Partial<TlsClientConfig>) =>
      clientOf(`https://127.0.0.1:${server.port}`, { http: { tls: trusting({ ca, ...tls }) } }).get(
        "/x",
        LONG_MS,
      );
    const refused = await poll({});
    if (refused.ok) throw new Error("the poll succeeded");
    expect([refused.failure.reason, refused.failure.code]).toEqual(["tls", "legacy_tls"]);
    expect(refused.failure.message).toContain(words);
    expect(await poll(LEGACY)).toMatchObject({ ok: true });
    expect(await poll({ minVersion: "TLSv1" })).toMatchObject({ ok: true });
  },
);

test("insecure_legacy_tls does not lower a min_version", async () => {
  const server = await serve(answering(OK), { ...OLD, ...LEAF, minVersion: "TLSv1", maxVersion: "TLSv1.1" });
  const tls = trusting({ ...LEGACY, minVersion: "TLSv1.2" });
  const answer = await clientOf(`https://127.0.0.1:${server.port}`, { http: { tls } }).get("/x", LONG_MS);
  expect(answer).toMatchObject({ failure: { code: "legacy_tls" } });
});

test("static RSA needs no setting", async () => {
  const server = await serve(answering(OK), {
    ...RSA_PAIR,
    maxVersion: "TLSv1.2",
    ciphers: "AES128-SHA@SECLEVEL=0",
  });
  const tls = trusting({ ca: RSA.cert });
  const answer = await clientOf(`https://127.0.0.1:${server.port}`, { http: { tls } }).get("/x", LONG_MS);
  expect(answer).toMatchObject({ ok: true });
});

/** A ServerHello of TLS 1.2 with a static RSA cipher and no extension, so without secure renegotiation. @see RFC 5746, 3.4 */
const SERVER_HELLO = Buffer.concat([
  Buffer.from([22, 3, 3, 0, 42, 2, 0, 0, 38, 3, 3]),
  Buffer.alloc(32, 7),
  Buffer.from([0, 0x00, 0x2f, 0]),
]);
/** The alert insufficient_security, by which the test sees that the client has accepted the hello. */
const ALERT = Buffer.from([21, 3, 3, 0, 2, 2, 71]);

const withoutRenegotiation: Behaviour = ({ socket }) =>
  void socket.once("data", () => socket.write(Buffer.concat([SERVER_HELLO, ALERT])));

test.each([
  [{}, "legacy_tls", "unsafe legacy renegotiation disabled"],
  [LEGACY, undefined, "tlsv1 alert insufficient security"],
  [{ minVersion: "TLSv1" } as const, undefined, "tlsv1 alert insufficient security"],
])("with %j, a hello without secure renegotiation ends as %s", async (tls, code, words) => {
  const server = await servePlain(withoutRenegotiation);
  const http = { tls: trusting(tls) };
  const answer = await clientOf(`https://127.0.0.1:${server.port}`, { http }).get("/x", LONG_MS);
  if (answer.ok) throw new Error("the poll succeeded");
  expect([answer.failure.code, answer.failure.message]).toEqual([code, expect.stringContaining(words)]);
});
