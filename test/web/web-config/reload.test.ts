import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createReloader } from "../../../src/config/reload.ts";
import { createAuthority } from "../../support/certificates.ts";
import { createMemoryLog } from "../../support/exporter.ts";
import { NOBODY, startProtected } from "./exporter.ts";
import { folderOf, get, HASH } from "./support.ts";

const TLS = "tls_server_config: { cert_file: server.pem, key_file: server.key }\n";

test("a reload applies both configurations or neither, and logs no secret", async () => {
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
    `${folder}/web.yaml:1:45: tls_server_config.key_file: the key does not match the certificate in cert_file`,
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

test("if the server rejects its settings, a reload applies nothing", async () => {
  const folder = await folderOf({ "config.yaml": NOBODY });
  const configFile = join(folder, "config.yaml");
  const loaded = await loadConfig(configFile);
  if (!loaded.ok) throw new Error("the configuration is invalid");
  const taken: string[] = [];
  const reloaded: boolean[] = [];
  const refused = new Error("no memory for a secure context");
  const apply = (): void => {
    throw refused;
  };
  const reloader = createReloader({
    load: () => loadConfig(configFile),
    loaded,
    web: { sources: [], prepare: () => Promise.resolve({ ok: true, sources: [], apply }) },
    prepare: ({ appliances }) => {
      const names = appliances.map(({ name }) => name);
      return () => void taken.push(...names);
    },
    onReloaded: (isSuccess) => void reloaded.push(isSuccess),
    clock: systemClock,
    logger: createMemoryLog().logger,
    watchIntervalMs: 600_000,
  });
  const before = reloader.shown();
  await writeFile(configFile, NOBODY.replace("name: a", "name: b"));
  expect((await reloader.reload()).ok).toBe(false);
  expect({ taken, reloaded, shown: reloader.shown() }).toEqual({
    taken: [],
    reloaded: [false],
    shown: before,
  });
});
