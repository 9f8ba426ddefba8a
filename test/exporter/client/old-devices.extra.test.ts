import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { endChild } from "../../support/child.ts";
import { eventually } from "../../support/eventually.ts";
import { closedPort } from "../../support/fault-server.ts";
import { toolPath } from "../../support/tool.ts";
import { clientOf, connectsTo, trusting } from "./support.ts";

/** Longer than an answer takes on a busy machine. */
const TIMEOUT_MS = 30_000;

const folder = mkdtempSync(join(tmpdir(), "old-devices-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function openssl(...args: readonly string[]): void {
  execFileSync(toolPath("openssl"), args, { cwd: folder, stdio: "ignore" });
}

beforeAll(() => {
  for (const bits of ["1024", "2048"]) {
    const names = ["-subj", "/CN=old", "-addext", "subjectAltName=IP:127.0.0.1"];
    const files = ["-keyout", `${bits}.key`, "-out", `${bits}.pem`];
    openssl("req", "-x509", "-newkey", `rsa:${bits}`, "-nodes", "-days", "90", ...names, ...files);
  }
  openssl("dhparam", "-out", "dh.pem", "1024");
}, 120_000);

const ANY = ["-cipher", "ALL:@SECLEVEL=0"];

/** The bits of the RSA key, and further flags of `openssl s_server`, which answers each request with a page. */
const OPENSSL: Readonly<Record<string, { readonly bits: string; readonly flags: readonly string[] }>> = {
  "RSA of 1024 bits": { bits: "1024", flags: ANY },
  "Diffie-Hellman of 1024 bits": {
    bits: "2048",
    flags: ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256:@SECLEVEL=0", "-dhparam", "dh.pem"],
  },
  "TLS 1.0": { bits: "2048", flags: ["-tls1", ...ANY] },
  "TLS 1.1": { bits: "2048", flags: ["-tls1_1", ...ANY] },
};

/** The priorities of `gnutls-serv` without secure renegotiation. */
const GNUTLS = {
  "TLS 1.2 without RFC 5746": "NORMAL:-VERS-TLS1.3:%DISABLE_SAFE_RENEGOTIATION",
  "TLS 1.0 without RFC 5746": "LEGACY:-VERS-ALL:+VERS-TLS1.0:%DISABLE_SAFE_RENEGOTIATION",
} as const;

async function start(command: string, flags: (port: string) => readonly string[]): Promise<number> {
  const port = await closedPort();
  const child = spawn(toolPath(command), flags(String(port)), { cwd: folder, stdio: "ignore" });
  onTestFinished(() => endChild(child));
  await eventually(async () => expect(await connectsTo(port)).toBe(true));
  return port;
}

/** What a poll with the default settings, and one with insecure_legacy_tls come to. The pages are no management API, but the handshake is over. */
async function polled(port: number, pem: string) {
  const ca = readFileSync(join(folder, pem), "utf8");
  const poll = async (insecureLegacyTls: boolean) => {
    const http = { tls: trusting({ ca, insecureLegacyTls }) };
    const answer = await clientOf(`https://127.0.0.1:${port}`, { http }).get("/", TIMEOUT_MS);
    return answer.ok ? "ok" : (answer.failure.code ?? answer.failure.reason);
  };
  return [await poll(false), await poll(true)];
}

test.each(Object.entries(OPENSSL))(
  "%s of OpenSSL is polled with insecure_legacy_tls only",
  async (_, { bits, flags }) => {
    const server = ["s_server", "-quiet", "-www", "-cert", `${bits}.pem`, "-key", `${bits}.key`, ...flags];
    const port = await start("openssl", (at) => [...server, "-accept", at]);
    expect(await polled(port, `${bits}.pem`)).toEqual(["legacy_tls", "ok"]);
  },
);

test.each(Object.entries(GNUTLS))(
  "%s of GnuTLS is polled with insecure_legacy_tls only",
  async (_, priority) => {
    const files = ["--x509certfile", "2048.pem", "--x509keyfile", "2048.key"];
    const port = await start("gnutls-serv", (at) => [
      "--http",
      "--port",
      at,
      ...files,
      "--priority",
      priority,
    ]);
    expect(await polled(port, "2048.pem")).toEqual(["legacy_tls", "ok"]);
  },
);
