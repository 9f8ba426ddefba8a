import { once } from "node:events";
import { Agent } from "node:https";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createAuthority, createIntermediateChain, type Authority } from "../../support/certificates.ts";
import type { Files } from "../config/folder.ts";
import { ask, connectTo, startSecured } from "./support.ts";

// A handshake that is not completed is cut off after five seconds.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

let authority: Authority;
let files: Files = {};
let clients: Readonly<Record<"none" | "own" | "stranger", { cert?: string; key?: string }>>;

beforeAll(async () => {
  authority = await createAuthority();
  const stranger = await createAuthority("a stranger");
  const server = await authority.issue();
  files = {
    "server.pem": server.cert,
    "server.key": server.key,
    "ca.pem": authority.cert,
  };
  clients = { none: {}, own: await authority.issue(), stranger: await stranger.issue() };
});

const PAIR = "cert_file: server.pem, key_file: server.key";
const VERIFY = "client_auth_type: RequireAndVerifyClientCert, client_ca_file";

async function isAnswered(port: number, client: ConnectionOptions): Promise<boolean> {
  return ask(port, "/metrics", { ca: authority.cert, ...client }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

describe("client certificates", () => {
  test.each([
    ["NoClientCert", "", { none: true, own: true, stranger: true }],
    ["RequestClientCert", "", { none: true, own: true, stranger: true }],
    ["RequireAnyClientCert", "", { none: false, own: true, stranger: true }],
    ["RequireClientCert", "", { none: false, own: true, stranger: true }],
    ["VerifyClientCertIfGiven", "client_ca_file: ca.pem", { none: true, own: true, stranger: false }],
    ["RequireAndVerifyClientCert", "client_ca_file: ca.pem", { none: false, own: true, stranger: false }],
    ["VerifyClientCertIfGiven", "", { none: true, own: false, stranger: false }],
    [
      "RequireAndVerifyClientCert",
      "client_ca_file: ca.pem, client_allowed_sans: [other, localhost]",
      { none: false, own: true, stranger: false },
    ],
    [
      "RequireAndVerifyClientCert",
      "client_ca_file: ca.pem, client_allowed_sans: ['0:0::1']",
      { none: false, own: true, stranger: false },
    ],
    [
      "RequireAndVerifyClientCert",
      "client_ca_file: ca.pem, client_allowed_sans: [other]",
      { none: false, own: false, stranger: false },
    ],
    ["RequireAnyClientCert", "client_allowed_sans: [localhost]", { none: false, own: true, stranger: true }],
  ])("%s", async (word, rest, expected) => {
    const { port } = await startSecured(
      `tls_server_config: { ${PAIR}, client_auth_type: ${word}, ${rest} }`,
      files,
    );
    const answered = {
      none: await isAnswered(port, clients.none),
      own: await isAnswered(port, clients.own),
      stranger: await isAnswered(port, clients.stranger),
    };
    expect(answered).toEqual(expected);
  });

  test.each(["TLSv1.2", "TLSv1.3"] as const)(
    "are verified in a resumed session of %s too",
    async (version) => {
      const { port } = await startSecured(`tls_server_config: { ${PAIR}, ${VERIFY}: ca.pem }`, files);
      const agent = new Agent({ keepAlive: false, maxVersion: version, ...clients.own });
      onTestFinished(() => agent.destroy());
      const resumed: boolean[] = [];
      const onSocket = (socket: TLSSocket) => resumed.push(socket.isSessionReused());
      for (let i = 0; i < 2; i += 1)
        expect((await ask(port, "/metrics", { agent, ca: authority.cert, onSocket })).status).toBe(200);
      expect(resumed).toEqual([false, true]);
    },
  );

  test("may be signed by any certificate in client_ca_file, root or not, after a reload too: _sharedCreds of Node", async () => {
    const { intermediate, leaf } = await createIntermediateChain();
    const { port, write, reload } = await startSecured(
      `tls_server_config: { ${PAIR}, ${VERIFY}: clients.pem }`,
      { ...files, "clients.pem": intermediate },
    );
    expect(await isAnswered(port, leaf)).toBe(true);
    expect(await isAnswered(port, clients.own)).toBe(false);
    await write("clients.pem", clients.own.cert ?? "");
    expect(await reload()).toEqual([]);
    expect(await isAnswered(port, clients.own)).toBe(true);
    expect(await isAnswered(port, await authority.issue())).toBe(false);
    expect(await isAnswered(port, leaf)).toBe(false);
  });

  test("are requested only after a reload turns them on: requestCert of Node", async () => {
    const { port, write, reload } = await startSecured(`tls_server_config: { ${PAIR} }`, files);
    expect(await isAnswered(port, clients.none)).toBe(true);
    await write("web.yaml", `tls_server_config: { ${PAIR}, ${VERIFY}: ca.pem }`);
    expect(await reload()).toEqual([]);
    expect(await isAnswered(port, clients.none)).toBe(false);
    expect(await isAnswered(port, clients.own)).toBe(true);
    await write("web.yaml", `tls_server_config: { ${PAIR} }`);
    expect(await reload()).toEqual([]);
    expect(await isAnswered(port, clients.none)).toBe(true);
  });
});

/** The negotiated versions of TLS and HTTP; `undefined` if the handshake failed. */
async function agree(port: number, options: ConnectionOptions) {
  const socket = connect({ host: "127.0.0.1", port, ca: authority.cert, ...options });
  onTestFinished(() => void socket.destroy());
  return once(socket, "secureConnect").then(
    () => ({ version: socket.getProtocol(), cipher: socket.getCipher().name, alpn: socket.alpnProtocol }),
    () => undefined,
  );
}

const OLD = { ciphers: "DEFAULT@SECLEVEL=0" };

test.each([
  ["", { minVersion: "TLSv1.3" }, "TLSv1.3"],
  ["", { maxVersion: "TLSv1.2" }, "TLSv1.2"],
  ["", { minVersion: "TLSv1", maxVersion: "TLSv1.1", ...OLD }, undefined],
  ["min_version: TLS13", { maxVersion: "TLSv1.2" }, undefined],
  ["min_version: TLS11", { minVersion: "TLSv1", maxVersion: "TLSv1.1", ...OLD }, "TLSv1.1"],
  ["min_version: TLS10", { minVersion: "TLSv1", maxVersion: "TLSv1", ...OLD }, "TLSv1"],
] as const)("{ %s } and a client with %j negotiate %s", async (rules, client, version) => {
  const { port } = await startSecured(`tls_server_config: { ${PAIR}, ${rules} }`, files);
  expect((await agree(port, client))?.version).toBe(version);
});

test.each([true, false])("with http2: %s, HTTP/1.1 is negotiated", async (http2) => {
  const yaml = `tls_server_config: { ${PAIR} }\nhttp_server_config: { http2: ${http2} }\n`;
  const { port } = await startSecured(yaml, files);
  expect(await agree(port, { ALPNProtocols: ["h2", "http/1.1"] })).toMatchObject({ alpn: "http/1.1" });
});

test("a reload does not turn TLS on or off", async () => {
  const { port, write, reload } = await startSecured(`tls_server_config: { ${PAIR} }`, files);
  await write("web.yaml", "{}");
  expect(await reload()).toEqual([
    "web.yaml: tls_server_config: TLS can be turned on or off only by a restart",
  ]);
  expect(await isAnswered(port, clients.none)).toBe(true);
});

test("a client that never completes its handshake does not block others", async () => {
  const { port } = await startSecured(`tls_server_config: { ${PAIR} }`, files);
  const silent = await Promise.all(Array.from({ length: 20 }, () => connectTo(port)));
  const closed = silent.map((socket) => once(socket, "close"));
  expect(await isAnswered(port, clients.none)).toBe(true);
  await Promise.all(closed);
});

const [AES_256, AES_128] = ["ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-GCM-SHA256"];
const SUITES =
  "cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256], max_version: TLS12";

test.each([
  [SUITES, { ciphers: `${AES_128}:${AES_256}` }, AES_256],
  [`${SUITES}, prefer_server_cipher_suites: false`, { ciphers: `${AES_128}:${AES_256}` }, AES_128],
  [SUITES, { ciphers: "ECDHE-ECDSA-AES256-SHA" }, undefined],
  [SUITES, { minVersion: "TLSv1.3" }, undefined],
  [SUITES.replace("TLS12", "TLS13"), { minVersion: "TLSv1.3" }, "TLS_AES_256_GCM_SHA384"],
  ["max_version: TLS12", { ciphers: AES_128 }, AES_128],
  ["curve_preferences: [CurveP521]", { ecdhCurve: "P-384" }, undefined],
  ["curve_preferences: [CurveP521]", { ecdhCurve: "P-384:P-521" }, "TLS_AES_256_GCM_SHA384"],
] as const)("{ %s } and a client with %j agree on %s", async (rules, client, cipher) => {
  const { port } = await startSecured(`tls_server_config: { ${PAIR}, ${rules} }`, files);
  expect((await agree(port, client))?.cipher).toBe(cipher);
});
