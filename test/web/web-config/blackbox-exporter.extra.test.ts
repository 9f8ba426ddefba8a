import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { loadSecuredWeb } from "../../../src/web/secured-web.ts";
import { createAuthority } from "../../support/certificates.ts";
import { closedPort } from "../../support/fault-server.ts";
import { toolPath } from "../../support/tool.ts";
import { folderOf, get, HASH, startSecured, type Files, type Question } from "./support.ts";

const PAIR = "cert_file: server.pem, key_file: server.key";
const USERS = `basic_auth_users: { monitor: $2y$${HASH} }`;

let files: Files = {};
let callers: Readonly<Record<string, Question>> = {};

beforeAll(async () => {
  const authority = await createAuthority();
  const stranger = await createAuthority("a stranger");
  const [server, other, own, strange] = await Promise.all([
    authority.issue(),
    authority.issue(),
    authority.issue(),
    stranger.issue(),
  ]);
  files = {
    "server.pem": server.cert,
    "server.key": server.key,
    "other.key": other.key,
    "ca.pem": authority.cert,
  };
  const ca = authority.cert;
  const old = { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" } as const;
  callers = {
    plain: { plain: true },
    tls: { ca },
    "tls 1.2": { ca, ...old },
    certificate: { ca, ...own },
    stranger: { ca, ...strange },
    password: { ca, ...own, auth: "monitor:correct horse" },
    "plain password": { plain: true, auth: "monitor:correct horse" },
    "wrong password": { ca, ...own, auth: "monitor:wrong horse" },
  };
});

/** Files that both programs accept or both reject. */
const CONFIGURATIONS: readonly (readonly [yaml: string, starts: boolean])[] = [
  ["{}", true],
  [USERS, true],
  [USERS.replace("$2y$", "$3y$"), false],
  [`basic_auth_users:\n  monitor: |\n    $2y$${HASH}`, true],
  [`tls_server_config: { ${PAIR} }`, true],
  [`tls_server_config: { ${PAIR}, min_version: TLS13 }`, true],
  [`tls_server_config: { ${PAIR}, client_auth_type: RequestClientCert }`, true],
  [`tls_server_config: { ${PAIR}, client_auth_type: RequireAnyClientCert }`, true],
  [`tls_server_config: { ${PAIR}, client_auth_type: RequireClientCert }`, true],
  [`tls_server_config: { ${PAIR}, client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem }`, true],
  [
    `tls_server_config: { ${PAIR}, client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem }`,
    true,
  ],
  [`tls_server_config: { ${PAIR}, client_auth_type: RequireAnyClientCert }\n${USERS}\n`, true],
  ["http_server_config: { http2: true, headers: { X-Frame-Options: deny, X-XSS-Protection: 0 } }", true],
  [`tls_server_config: { ${PAIR}, client_ca_file: ca.pem }`, false],
  [`tls_server_config: { ${PAIR}, client_auth_type: Sometimes }`, false],
  [`tls_server_config: { ${PAIR}, min_version: TLS14 }`, false],
  [`tls_server_config: { ${PAIR}, certificate: server.pem }`, false],
  ["tls_server_config: { cert_file: server.pem }", false],
  ["tls_server_config: { cert_file: server.pem, key_file: other.key }", false],
  ["tls_server_config: { cert_file: nowhere.pem, key_file: server.key }", false],
  ["basic_auth_users: { monitor: password }", false],
  ["http_server_config: { headers: { X-Frame-Options: never } }", false],
  ["http_server_config: { headers: { X-Powered-By: us } }", false],
  ["colour: blue", false],
];

/** The port of the real exporter; `undefined` if it does not start. */
async function startReal(folder: string): Promise<number | undefined> {
  const port = await closedPort();
  const child = spawn(
    toolPath("prometheus-blackbox-exporter"),
    ["--config.file=blackbox.yml", "--web.config.file=web.yaml", `--web.listen-address=127.0.0.1:${port}`],
    { cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  );
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const started = new Promise<number>((resolve) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      // The last log line before it accepts connections.
      if (/TLS is (enabled|disabled)/.test(text)) resolve(port);
    });
  });
  return Promise.race([started, ended.then(() => undefined)]);
}

/** The status that each client gets. Without TLS, the real exporter responds with 400; this one disconnects. */
async function outcomes(port: number): Promise<Readonly<Record<string, number | undefined>>> {
  const asked = Object.entries(callers).map(async ([name, caller]) => {
    const answer = await get(port, "/metrics", caller).catch(() => undefined);
    return [name, answer?.status === 400 ? undefined : answer?.status] as const;
  });
  return Object.fromEntries(await Promise.all(asked));
}

async function oursStarts(folder: string): Promise<boolean> {
  return (await loadSecuredWeb(join(folder, "web.yaml"))).ok;
}

describe("the real blackbox_exporter and we agree", () => {
  test.each(CONFIGURATIONS)("on %s: %s", async (yaml, starts) => {
    const all = { ...files, "web.yaml": yaml, "blackbox.yml": "modules: {}\n" };
    const folder = await folderOf(all);
    const port = await startReal(folder);
    expect({ real: port !== undefined, ours: await oursStarts(folder) }).toEqual({
      real: starts,
      ours: starts,
    });
    if (port === undefined) return;
    const ours = await startSecured(yaml, files);
    expect(await outcomes(ours.port)).toEqual(await outcomes(port));
  });
});
