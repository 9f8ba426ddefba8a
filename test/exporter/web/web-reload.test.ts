import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { runProgram } from "../../../src/program/program.ts";
import { createFolder } from "../config/folder.ts";
import { createAuthority, type Authority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestExporter, type ExporterUnderTest } from "../../support/exporter.ts";
import { createTestIo } from "../../support/io.ts";
import { ask, basic, HASH } from "./support.ts";

// Files are watched through several changes.
vi.setConfig({ testTimeout: 30_000, hookTimeout: 30_000 });

const NOBODY = "appliances: [{ name: a, enabled: false, base_url: 'https://127.0.0.1:1' }]\n";
const TLS = "tls_server_config: { cert_file: server.pem, key_file: server.key }\n";
type Issued = Awaited<ReturnType<Authority["issue"]>>;

let authority: Authority;
let server: Issued;

beforeAll(async () => {
  authority = await createAuthority();
  server = await authority.issue();
});

/** An exporter over TLS without appliances. */
async function start(watchIntervalMs = 600_000): Promise<ExporterUnderTest> {
  const files = { "server.pem": server.cert, "server.key": server.key };
  const exporter = await startTestExporter({ config: NOBODY, web: TLS, files, watchIntervalMs });
  onTestFinished(exporter.stop);
  return exporter;
}

async function servedCertificate({ port }: ExporterUnderTest): Promise<string> {
  let served = "";
  await ask(port, "/-/healthy", {
    ca: authority.cert,
    onSocket: (socket) => (served = socket.getPeerX509Certificate()?.toString() ?? ""),
  });
  return served.trim();
}

test("an invalid web configuration is reported on stderr beside an invalid configuration, and exits 1", async () => {
  const folder = await createFolder({ "config.yaml": `${NOBODY}colour: blue\n`, "web.yaml": "users: {}\n" });
  const { io, printed } = await createTestIo();
  const code = await runProgram(
    [
      `--config.file=${join(folder, "config.yaml")}`,
      `--web.config.file=${join(folder, "web.yaml")}`,
      "--web.listen-address=127.0.0.1:0",
    ],
    io,
  );
  expect({ code, ...printed }).toEqual({
    code: 1,
    out: "",
    err:
      `${folder}/config.yaml:2:1: unknown key; expected polling, http_client, kind, website_discovery, website_targets, maintenance, clusters, appliances or config_files\n` +
      `${folder}/web.yaml:1:1: unknown key; expected tls_server_config, basic_auth_users, maintenance_users or http_server_config\n`,
  });
});

test("a reload applies both configurations or neither, and logs no secret", async () => {
  const { port, log, write, reload, folder } = await start();
  const get = (headers = {}) => ask(port, "/metrics", { ca: authority.cert, headers });

  expect((await get()).status).toBe(200);
  await write("web.yaml", `${TLS}basic_auth_users: { monitor: $2y$${HASH} }\n`);
  await write("server.key", (await authority.issue()).key);
  expect(await reload()).toBe(false);
  const { status, body } = await get();
  expect(status).toBe(200);
  expect(body.toString()).toContain("\nappliance_exporter_config_last_reload_successful 0\n");
  expect(log.lines.filter(({ level }) => level === "error").map(({ detail }) => detail)).toEqual([
    `${folder}/web.yaml:1:45: tls_server_config.key_file: TLS rejects this key with this certificate`,
    undefined,
  ]);

  await write("server.key", server.key);
  expect(await reload()).toBe(true);
  expect((await get()).status).toBe(401);
  expect((await get(basic("monitor:correct horse"))).status).toBe(200);

  await write("config.yaml", `${NOBODY}colour: blue\n`);
  await write("web.yaml", TLS);
  expect(await reload()).toBe(false);
  expect((await get()).status).toBe(401);
  expect(log.text()).not.toContain(HASH);
});

test("a Kubernetes volume that a reload by signal added is watched through several swaps", async () => {
  const exporter = await start(20);
  const volume = join(exporter.folder, "vol");
  /** Replaces a symbolic link atomically, as Kubernetes does. */
  const link = async (name: string, target: string): Promise<void> => {
    await symlink(target, join(volume, "next"));
    await rename(join(volume, "next"), join(volume, name));
  };
  const swapTo = async (version: string, { cert, key }: Issued): Promise<void> => {
    await mkdir(join(volume, version), { recursive: true });
    await writeFile(join(volume, version, "tls.crt"), cert);
    await writeFile(join(volume, version, "tls.key"), key);
    await link("..data", version);
  };
  await swapTo("..1", await authority.issue());
  await link("tls.crt", "..data/tls.crt");
  await link("tls.key", "..data/tls.key");
  await exporter.write("web.yaml", "tls_server_config: { cert_file: vol/tls.crt, key_file: vol/tls.key }\n");
  expect(await exporter.reload()).toBe(true);
  for (const version of ["..2", "..3"]) {
    const pair = await authority.issue();
    await swapTo(version, pair);
    await eventually(async () => expect(await servedCertificate(exporter)).toBe(pair.cert.trim()));
  }
});

test("the files of an invalid configuration are watched, and it is loaded when they exist", async () => {
  const exporter = await start(20);
  await exporter.write("web.yaml", "tls_server_config: { cert_file: new.pem, key_file: new.key }\n");
  await eventually(() => expect(exporter.log.text()).toContain("reload failed, the old configuration stays"));
  const pair = await authority.issue();
  await exporter.write("new.pem", pair.cert);
  await exporter.write("new.key", pair.key);
  await eventually(async () => expect(await servedCertificate(exporter)).toBe(pair.cert.trim()));
});
