import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { FleetDocument } from "../../src/status/schema.ts";
import { CREDENTIALS, EXPORTER_PORT } from "../../test/e2e/lab/fleet.ts";
import { start } from "../../test/e2e/lab/process.ts";
import type { Sandbox } from "../../test/e2e/lab/sandbox.ts";
import { createAuthority } from "../../test/support/certificates.ts";
import { COMMAND } from "../../test/support/command.ts";
import { APPLIANCE_PORT } from "./node.ts";

/** What the exporter shows now. */
export type Fleet = () => Promise<FleetDocument>;

/** Writes the certificate of all appliances. */
export async function writeCertificates(folder: string, hosts: readonly string[]): Promise<void> {
  const authority = await createAuthority();
  const { cert, key } = await authority.issue({ hosts });
  const files = [
    ["ca.pem", authority.cert],
    ["appliance.pem", cert],
    ["appliance.key", key],
  ] as const;
  await Promise.all(files.map(([name, text]) => writeFile(join(folder, name), text)));
}

/** A cluster in the configuration of an exporter. */
export function configuredCluster(
  name: string,
  appliances: readonly { readonly name: string; readonly address: string; readonly enabled?: boolean }[],
): object {
  return {
    name,
    appliances: appliances.map(({ address, ...rest }) => ({
      ...rest,
      base_url: `https://${address}:${APPLIANCE_PORT}`,
    })),
  };
}

/** Starts an exporter in the network of the lab. */
export async function startExporter(
  sandbox: Sandbox,
  folder: string,
  config: object,
  port = EXPORTER_PORT,
): Promise<Fleet> {
  const name = `exporter-${port}`;
  const http = { http_client: { basic_auth: CREDENTIALS, tls_config: { ca_file: "ca.pem" } } };
  await writeFile(join(folder, `${name}.yaml`), JSON.stringify({ ...http, ...config }));
  const address = `127.0.0.1:${port}`;
  const flags = [`--config.file=${name}.yaml`, `--web.listen-address=${address}`];
  const exporter = start(sandbox, [process.execPath, COMMAND, "run", ...flags], {
    name,
    place: "lab",
    folder,
  });
  await exporter.printed(/exporter started/);
  return async () => JSON.parse(await sandbox.run("lab", ["curl", "-s", `http://${address}/api/v1/fleet`]));
}
