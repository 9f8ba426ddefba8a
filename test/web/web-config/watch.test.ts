import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../src/config/load.ts";
import { systemClock } from "../../../src/support/clock.ts";
import { createReloader } from "../../../src/config/reload.ts";
import { loadSecuredWeb } from "../../../src/web/secured-web.ts";
import { createAuthority, type Authority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryLog } from "../../support/exporter.ts";
import { NOBODY, startProtected, swapLink, type ProtectedExporter } from "./exporter.ts";
import { folderOf, get, HASH, type Files } from "./support.ts";

const TLS = "tls_server_config: { cert_file: server.pem, key_file: server.key }\n";
type Issued = Awaited<ReturnType<Authority["issue"]>>;
const CHECK_MS = 20;

let authority: Authority;
let files: Files = {};

beforeAll(async () => {
  authority = await createAuthority();
  const { cert, key } = await authority.issue();
  files = { "config.yaml": NOBODY, "web.yaml": TLS, "server.pem": cert, "server.key": key };
});

function reloads({ said }: ProtectedExporter, count: number): Promise<void> {
  return eventually(() => expect(said("configuration reloaded")).toBe(count));
}

async function servedCertificate({ port }: ProtectedExporter): Promise<string> {
  let served = "";
  await get(port, "/metrics", {
    ca: authority.cert,
    onSocket: (socket) => (served = socket.getPeerX509Certificate()?.toString() ?? ""),
  });
  return served.trim();
}

test("a file that the first configuration names is watched", async () => {
  const [ours, theirs] = [await createAuthority("ours"), await createAuthority("theirs")];
  const client = await theirs.issue();
  const folder = await folderOf({ ...files, "clients.pem": ours.cert });
  const exporter = await startProtected(folder, CHECK_MS);
  const ask = () => get(exporter.port, "/metrics", { ca: authority.cert, ...client });
  expect((await ask()).status).toBe(200);
  await exporter.write(
    "web.yaml",
    TLS.replace(" }", ", client_ca_file: clients.pem, client_auth_type: RequireAndVerifyClientCert }"),
  );
  await reloads(exporter, 1);
  expect(await ask().catch(() => undefined)).toBeUndefined();
  await exporter.write("clients.pem", theirs.cert);
  await reloads(exporter, 2);
  expect((await ask()).status).toBe(200);
});

test("a Kubernetes volume that a reload by signal added is watched through several swaps", async () => {
  const folder = await folderOf(files);
  const swapTo = async (version: string, { cert, key }: Issued): Promise<void> => {
    await mkdir(join(folder, "vol", `..${version}`), { recursive: true });
    await writeFile(join(folder, "vol", `..${version}`, "tls.crt"), cert);
    await writeFile(join(folder, "vol", `..${version}`, "tls.key"), key);
    await swapLink(join(folder, "vol", "..data"), `..${version}`);
  };
  await swapTo("1", await authority.issue());
  await swapLink(join(folder, "vol", "tls.crt"), "..data/tls.crt");
  await swapLink(join(folder, "vol", "tls.key"), "..data/tls.key");
  const exporter = await startProtected(folder, CHECK_MS);
  await exporter.write("web.yaml", "tls_server_config: { cert_file: vol/tls.crt, key_file: vol/tls.key }\n");
  expect((await exporter.exporter.reload()).ok).toBe(true);
  for (const version of ["2", "3"]) {
    const pair = await authority.issue();
    await swapTo(version, pair);
    await eventually(async () => expect(await servedCertificate(exporter)).toBe(pair.cert.trim()));
  }
});

test("the files of an invalid configuration are watched, and it is loaded when they exist", async () => {
  const folder = await folderOf(files);
  const exporter = await startProtected(folder, CHECK_MS);
  await exporter.write("web.yaml", "tls_server_config: { cert_file: new.pem, key_file: new.key }\n");
  await eventually(() => expect(exporter.said("reload failed, the old configuration stays")).toBe(1));
  const pair = await authority.issue();
  await exporter.write("new.pem", pair.cert);
  await exporter.write("new.key", pair.key);
  await eventually(async () => expect(await servedCertificate(exporter)).toBe(pair.cert.trim()));
});

test("a change between the first load and the first check is noticed", async () => {
  const folder = await folderOf({ "config.yaml": NOBODY, "web.yaml": "{}" });
  const { logger } = createMemoryLog();
  const secured = await loadSecuredWeb(join(folder, "web.yaml"));
  const configFile = join(folder, "config.yaml");
  const loaded = await loadConfig(configFile);
  if (!secured.ok || !loaded.ok) throw new Error("a configuration is invalid");
  await writeFile(join(folder, "web.yaml"), `basic_auth_users: { monitor: $2y$${HASH} }\n`);
  let reloaded = 0;
  const reloader = createReloader({
    load: () => loadConfig(configFile),
    loaded,
    web: secured.web,
    prepare: () => () => {},
    onReloaded: () => void (reloaded += 1),
    clock: systemClock,
    logger,
    watchIntervalMs: CHECK_MS,
  });
  onTestFinished(reloader.stop);
  reloader.watch();
  await eventually(() => expect(reloaded).toBe(1));
});
