import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createAuthority } from "../support/certificates.ts";
import { NOBODY, startProtected } from "./exporter.ts";
import { folderOf, get, HASH } from "./support.ts";

const TLS = "tls_server_config: { cert_file: server.pem, key_file: server.key }\n";

test("the exporter's reload takes both configurations or neither, and logs no secret", async () => {
  const authority = await createAuthority();
  const [server, other] = await Promise.all([authority.issue(), authority.issue()]);
  const folder = await folderOf({
    "config.yaml": NOBODY,
    "web.yaml": TLS,
    "server.pem": server.cert,
    "server.key": server.key,
  });
  const { exporter, port, log } = await startProtected(folder);
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

  await writeFile(join(folder, "config.yaml"), `${NOBODY}colour: blue\n`);
  await writeFile(join(folder, "web.yaml"), TLS);
  expect((await exporter.reload()).ok).toBe(false);
  expect((await ask()).status).toBe(401);
  expect(log.text()).not.toContain(HASH);
});
