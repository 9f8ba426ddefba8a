import { X509Certificate } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { startExporter } from "../../src/exporter.ts";
import { systemClock } from "../../src/polling/clock.ts";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { createMemoryLog, startTestExporter } from "../support/exporter.ts";
import { folderOf, get, HASH } from "./support.ts";

const CONFIG = "appliances: [{ name: a, enabled: false, base_url: 'https://127.0.0.1:1' }]\n";
const tls = (name: string) => `tls_server_config: { cert_file: ${name}.pem, key_file: ${name}.key }\n`;
const TLS = tls("server");

test("the exporter's reload takes both configurations or neither, and logs no secret", async () => {
  const authority = await createAuthority();
  const [server, other] = await Promise.all([authority.issue(), authority.issue()]);
  const folder = await folderOf({
    "config.yaml": CONFIG,
    "web.yaml": TLS,
    "server.pem": server.cert,
    "server.key": server.key,
  });
  const log = createMemoryLog();
  const started = await startExporter(
    {
      configFile: join(folder, "config.yaml"),
      webConfigFile: join(folder, "web.yaml"),
      listenAddresses: [{ host: "127.0.0.1", port: 0 }],
      enableLifecycle: false,
      telemetryPath: "/metrics",
      version: "0.0.0",
      nodeVersion: "v0.0.0",
      maxLookups: 2,
      maxPasswordReads: 2,
    },
    { clock: systemClock, logger: log.logger, droppedLogLines: () => 0 },
  );
  if (!started.ok) throw new Error(JSON.stringify(started));
  const { exporter } = started;
  onTestFinished(() => exporter.stop());
  const port = Number(exporter.addresses[0]?.split(":").at(-1));
  const ask = async (options: object = {}) => get(port, "/metrics", { ca: authority.cert, ...options });

  expect((await ask()).status).toBe(200);
  await writeFile(join(folder, "web.yaml"), `${TLS}basic_auth_users: { monitor: $2y$${HASH} }\n`);
  await writeFile(join(folder, "server.key"), other.key);
  expect((await exporter.reload()).ok).toBe(false);
  const { status, body } = await ask();
  expect(status).toBe(200);
  expect(body).toContain("\nappliance_exporter_config_last_reload_successful 0\n");
  expect(log.lines.filter(({ level }) => level === "error").map(({ detail }) => detail)).toEqual([
    `${folder}/web.yaml:1:1: tls_server_config: the key does not belong to the certificate, or TLS refuses the two`,
    undefined,
  ]);

  await writeFile(join(folder, "server.key"), server.key);
  expect((await exporter.reload()).ok).toBe(true);
  expect((await ask()).status).toBe(401);
  expect((await ask({ auth: "monitor:correct horse" })).status).toBe(200);

  await writeFile(join(folder, "config.yaml"), `${CONFIG}colour: blue\n`);
  await writeFile(join(folder, "web.yaml"), TLS);
  expect((await exporter.reload()).ok).toBe(false);
  expect((await ask()).status).toBe(401);
  expect(log.text()).not.toContain(HASH);
});

test("files that a changed web configuration names are watched from then on, the missing ones too", async () => {
  const authority = await createAuthority();
  const [first, second, third] = [await authority.issue(), await authority.issue(), await authority.issue()];
  const exporter = await startTestExporter({
    config: CONFIG,
    web: tls("first"),
    files: { "first.pem": first.cert, "first.key": first.key, "second.pem": second.cert },
    watchIntervalMs: 20,
  });
  onTestFinished(exporter.stop);
  const expectServed = (cert: string) =>
    eventually(async () => {
      let served: string | undefined;
      const onSocket = (socket: TLSSocket) => (served = socket.getPeerX509Certificate()?.toString());
      await get(exporter.port, "/metrics", { ca: authority.cert, onSocket });
      expect(served).toBe(new X509Certificate(cert).toString());
    });
  await expectServed(first.cert);
  await exporter.write("web.yaml", tls("second"));
  await eventually(() => expect(exporter.log.text()).toContain("second.key"));
  await exporter.write("second.key", second.key);
  await expectServed(second.cert);
  await exporter.write("second.pem", third.cert);
  await exporter.write("second.key", third.key);
  await expectServed(third.cert);
});
