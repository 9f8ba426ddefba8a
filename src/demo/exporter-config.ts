import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { USERNAME, type DemoAppliance } from "./appliances.ts";
import type { Cleanup } from "./cleanup.ts";

const CA_FILE = "ca.pem";

/**
 * Writes the exporter's configuration, password files and CA file into a private temporary folder, which the cleanup
 * removes; returns the configuration's path.
 */
export async function writeExporterConfig(
  ca: string,
  appliances: readonly DemoAppliance[],
  cleanup: Cleanup,
): Promise<string> {
  // mkdtemp creates it with mode 700.
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-demo-"));
  cleanup.add(() => rm(folder, { recursive: true, force: true }));
  const write = (name: string, text: string) => writeFile(join(folder, name), text, { mode: 0o600 });
  await write(CA_FILE, ca);
  for (const { name, password } of appliances) await write(passwordFile(name), `${password.reveal()}\n`);
  await write("config.yaml", configText(appliances));
  return join(folder, "config.yaml");
}

function passwordFile(appliance: string): string {
  return `${appliance}.password`;
}

function configText(appliances: readonly DemoAppliance[]): string {
  return `polling:
  vrrp: { interval: 1s }
  websites: { interval: 2s }
  discovery: { interval: 5s }
http_client:
  tls_config: { ca_file: ${CA_FILE} }
clusters:
  - name: demo
    labels: { site: demo }
    website_discovery: true
    appliances:
${appliances.map(applianceText).join("")}`;
}

function applianceText({ name, baseUrl }: DemoAppliance): string {
  return `      - name: ${name}
        base_url: ${baseUrl}
        http_client: { basic_auth: { username: ${USERNAME}, password_file: ${passwordFile(name)} } }
`;
}
