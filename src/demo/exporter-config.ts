import { USERNAME, type DemoAppliance } from "./appliances.ts";
import { WEBSITES } from "./scenario.ts";
import type { WriteFile } from "./workspace.ts";

const CA_FILE = "ca.pem";

/** Writes the exporter's configuration, password files and CA file; returns the configuration's path. */
export async function writeExporterConfig(
  write: WriteFile,
  ca: string,
  appliances: readonly DemoAppliance[],
): Promise<string> {
  await write(CA_FILE, ca);
  for (const { name, password } of appliances) await write(passwordFile(name), `${password.reveal()}\n`);
  return write("config.yaml", configText(appliances));
}

function passwordFile(appliance: string): string {
  return `${appliance}.password`;
}

function configText(appliances: readonly DemoAppliance[]): string {
  return `polling:
  vrrp: { interval: 1s }
  websites: { interval: 2s }
http_client:
  tls_config: { ca_file: ${CA_FILE} }
clusters:
  - name: demo
    labels: { site: demo }
    websites:
${WEBSITES.map(({ id, name, protocol }) => `      - { id: ${id}, name: ${name}, protocol: ${protocol} }\n`).join("")}\
    appliances:
${appliances.map(applianceText).join("")}`;
}

function applianceText({ name, baseUrl }: DemoAppliance): string {
  return `      - name: ${name}
        base_url: ${baseUrl}
        http_client: { basic_auth: { username: ${USERNAME}, password_file: ${passwordFile(name)} } }
`;
}
