import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { loadSecuredWeb } from "../../src/web/secured-web.ts";
import { createAuthority } from "../support/certificates.ts";
import { closedPort } from "../support/fault-server.ts";
import { toolPath } from "../support/tool.ts";
import { createFolder, type Files } from "../config/folder.ts";
import { ask, basic, HASH, startSecured, type AskOptions } from "./support.ts";
import { endChild } from "../support/child.ts";

const PAIR = "cert_file: server.pem, key_file: server.key";
const KNOWN = basic("monitor:correct horse");
const USERS = `basic_auth_users: { monitor: $2y$${HASH} }`;

let files: Files = {};
let callers: Readonly<Record<string, AskOptions>> = {};

beforeAll(async () => {
  const authority = await createAuthority();
  const [server, other, own] = [await authority.issue(), await authority.issue(), await authority.issue()];
  const strange = await (await createAuthority("a stranger")).issue();
  files = {
    "server.pem": server.cert,
    "server.key": server.key,
    "other.key": other.key,
    "ca.pem": authority.cert,
  };
  const ca = authority.cert;
  const old = { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" } as const;
  callers = {
    plain: {},
    tls: { ca },
    "tls 1.2": { ca, ...old },
    certificate: { ca, ...own },
    stranger: { ca, ...strange },
    password: { ca, ...own, headers: KNOWN },
    "plain password": { headers: KNOWN },
    "wrong password": { ca, ...own, headers: basic("monitor:wrong horse") },
  };
});

/** Files that both programs accept. The clients' answers show what they mean. */
const VALID: readonly string[] = [
  "{}",
  USERS,
  `basic_auth_users:\n  monitor: |\n    $2y$${HASH}`,
  "http_server_config: { http2: true, headers: { X-Frame-Options: deny, X-XSS-Protection: 0 } }",
  ...[
    "",
    "min_version: TLS13",
    "client_auth_type: RequestClientCert",
    "client_auth_type: RequireAnyClientCert",
    "client_auth_type: RequireClientCert",
    "client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem",
    "client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem",
  ].map((rules) => `tls_server_config: { ${PAIR}, ${rules} }`),
  `tls_server_config: { ${PAIR}, client_auth_type: RequireAnyClientCert }\n${USERS}\n`,
];

/** Files that both programs reject. */
const INVALID: readonly string[] = [
  USERS.replace("$2y$", "$3y$"),
  `tls_server_config: { ${PAIR}, client_ca_file: ca.pem }`,
  `tls_server_config: { ${PAIR}, min_version: TLS14 }`,
  "tls_server_config: { cert_file: server.pem }",
  "tls_server_config: { cert_file: server.pem, key_file: other.key }",
  "http_server_config: { headers: { X-Frame-Options: never } }",
  "colour: blue",
];

/** The port of the real exporter; `undefined` if it does not start. */
async function startReal(folder: string): Promise<number | undefined> {
  const port = await closedPort();
  const child = spawn(
    toolPath("prometheus-blackbox-exporter"),
    ["--config.file=blackbox.yml", "--web.config.file=web.yaml", `--web.listen-address=127.0.0.1:${port}`],
    { cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  );
  onTestFinished(() => endChild(child));
  const started = new Promise<number>((resolve) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      // The last log line before it accepts connections.
      if (/TLS is (enabled|disabled)/.test(text)) resolve(port);
    });
  });
  const ended = once(child, "exit").then(() => undefined);
  return Promise.race([started, ended]);
}

/** The status that each client gets. Without TLS, the real exporter responds with 400; this one disconnects. */
async function outcomes(port: number): Promise<Readonly<Record<string, number | undefined>>> {
  const asked = Object.entries(callers).map(async ([name, caller]) => {
    const answer = await ask(port, "/metrics", caller).catch(() => undefined);
    return [name, answer?.status === 400 ? undefined : answer?.status] as const;
  });
  return Object.fromEntries(await Promise.all(asked));
}

test.each([...VALID, ...INVALID])("the real blackbox_exporter and this one agree on %s", async (yaml) => {
  const isValid = VALID.includes(yaml);
  const folder = await createFolder({ ...files, "web.yaml": yaml, "blackbox.yml": "modules: {}\n" });
  const port = await startReal(folder);
  const { ok } = await loadSecuredWeb(join(folder, "web.yaml"));
  expect({ real: port !== undefined, ours: ok }).toEqual({ real: isValid, ours: isValid });
  if (port === undefined) return;
  const ours = await startSecured(yaml, files);
  expect(await outcomes(ours.port)).toEqual(await outcomes(port));
});
