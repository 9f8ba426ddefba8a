import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, vi } from "vitest";
import { resetsAtRequest, saysAndEnds } from "../faults/behaviours.ts";
import { test } from "../faults/stage.ts";
import { createAuthority } from "../support/certificates.ts";
import { startTestExporter } from "../support/exporter.ts";
import { closedPort, startFaultServer } from "../support/fault-server.ts";
import { HASH, routes, serve } from "../exporter/web/support.ts";

// Programs start, and stand still.
vi.setConfig({ testTimeout: 30_000 });

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const DOCKERFILE = readFileSync(`${REPOSITORY}Dockerfile`, "utf8");
const CONFIG = "appliances: [{ name: a, enabled: false, base_url: 'https://127.0.0.1:1' }]";

/** The exit code of the image's health check; 0: healthy. */
async function check(port: number): Promise<number> {
  const [, words = ""] = /^HEALTHCHECK .*CMD (.*)$/m.exec(DOCKERFILE) ?? [];
  const [, ...args]: readonly string[] = JSON.parse(words.replaceAll("/app/", REPOSITORY));
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...args, `127.0.0.1:${port}`], (error, stdout, stderr) => {
      if (stdout + stderr !== "") reject(new Error(stdout + stderr));
      else if (error !== null && typeof error.code !== "number") reject(error);
      else resolve(Number(error?.code ?? 0));
    });
  });
}

const authority = await createAuthority();
const { cert, key } = await authority.issue();
const FILES = { "server.pem": cert, "server.key": key, "ca.pem": authority.cert };
const tls = (more: string) => `tls_server_config: { cert_file: server.pem, key_file: server.key, ${more} }`;

test.each([
  ["plain HTTP", undefined],
  ["TLS", tls("")],
  ["client certificates", tls("client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem")],
  ["passwords", `basic_auth_users: { u: $2b$${HASH} }`],
])("an exporter with %s is healthy", async (_, web) => {
  const { port, stop } = await startTestExporter({
    config: CONFIG,
    files: FILES,
    ...(web === undefined ? {} : { web }),
  });
  onTestFinished(stop);
  expect(await check(port)).toBe(0);
});

test("an exporter that reports unhealthy is unhealthy", async () => {
  expect(await check(await serve(routes({ isHealthy: () => false })))).toBe(1);
});

test("a closed port, a closed connection and another protocol are unhealthy", async () => {
  const servers = [resetsAtRequest, saysAndEnds("SSH-2.0-x\r\n")].map(async (behaviour) => {
    const server = await startFaultServer(behaviour);
    onTestFinished(server.stop);
    return server.port;
  });
  const ports = await Promise.all([closedPort(), ...servers]);
  expect(await Promise.all(ports.map(check))).toEqual([1, 1, 1]);
});

test("a stopped process is unhealthy", async ({ stage }) => {
  const program = await stage.program({ config: CONFIG });
  const { port } = new URL(program.url);
  expect(await check(Number(port))).toBe(0);
  program.kill("SIGSTOP");
  expect(await check(Number(port))).toBe(1);
});
