import { once } from "node:events";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { expect, onTestFinished, test, vi } from "vitest";
import { resetsAtRequest, saysAndEnds, silent } from "../faults/behaviours.ts";
import { createAuthority } from "../support/certificates.ts";
import { startTestExporter } from "../support/exporter.ts";
import { closedPort, startFaultServer } from "../support/fault-server.ts";
import { HASH, routes, serve } from "../exporter/web/support.ts";

// An exporter that stands still is waited for.
vi.setConfig({ testTimeout: 30_000 });

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const DOCKERFILE = readFileSync(`${REPOSITORY}Dockerfile`, "utf8");
const CONFIG = "appliances: [{ name: a, enabled: false, base_url: 'https://127.0.0.1:1' }]";

/** The exit code of the image's health check; 0: healthy. */
async function check(port: number): Promise<number> {
  const [, words = ""] = /^HEALTHCHECK .*CMD (.*)$/m.exec(DOCKERFILE) ?? [];
  const [, file = "", ...others]: readonly string[] = JSON.parse(words.replaceAll("/app/", REPOSITORY));
  // A thread starts sooner than a process, and ends in the same way.
  const argv = [...others, `127.0.0.1:${port}`];
  const thread = new Worker(file, { argv, stdout: true, stderr: true });
  const ended = once(thread, "exit");
  expect(await Promise.all([thread.stdout, thread.stderr].map(text))).toEqual(["", ""]);
  const [code] = await ended;
  return code;
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

test("a closed port, a closed connection, another protocol and a process that stands still are unhealthy", async () => {
  const servers = [resetsAtRequest, saysAndEnds("SSH-2.0-x\r\n"), silent].map(async (behaviour) => {
    const server = await startFaultServer(behaviour);
    onTestFinished(server.stop);
    return server.port;
  });
  const ports = await Promise.all([closedPort(), ...servers]);
  expect(await Promise.all(ports.map(check))).toEqual([1, 1, 1, 1]);
});
