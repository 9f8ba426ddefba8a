import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bcrypt } from "hash-wasm";
import type { FleetDocument } from "../../src/exporter/document/schema.ts";
import { CREDENTIALS, EXPORTER_PORT } from "../../test/e2e/lab/fleet.ts";
import { addBridge } from "../../test/e2e/lab/network.ts";
import { start } from "../../test/e2e/lab/process.ts";
import { openSandbox, type Sandbox } from "../../test/e2e/lab/sandbox.ts";
import { createAuthority } from "../../test/support/certificates.ts";
import { COMMAND } from "../../test/support/command.ts";
import { APPLIANCE_PORT, FLEET } from "./node.ts";
import { clusterName, fleetAddress, nodeName } from "./play.ts";

/** Returns the present document of the exporter. */
export type Fleet = () => Promise<FleetDocument>;

/** A network with room for clusters. */
export interface LabNetwork {
  readonly sandbox: Sandbox;
  /** The folder that has the certificate of all appliances. */
  readonly folder: string;
  /** The clusters in the form that they have in an exporter's configuration. */
  readonly clusters: readonly object[];
}

/** Makes a network for clusters with this number of members; removes the network with everything in it afterwards. */
export async function inLab<T>(
  situations: readonly { readonly members: readonly object[] }[],
  name: string,
  use: (network: LabNetwork) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), `appliance-exporter-${name}-`));
  const sandbox = await openSandbox();
  try {
    await addBridge(sandbox, FLEET.bridge, FLEET.exporter);
    const hosts = situations.flatMap(({ members }, nth) =>
      members.map((_, order) => fleetAddress(nth, order)),
    );
    await writeCertificates(folder, hosts);
    const clusters = situations.map(({ members }, nth) => ({
      name: clusterName(nth),
      appliances: members.map((member, order) => ({
        name: nodeName(nth, order),
        base_url: `https://${fleetAddress(nth, order)}:${APPLIANCE_PORT}`,
        enabled: !("is" in member && member.is === "disabled"),
      })),
    }));
    return await use({ sandbox, folder, clusters });
  } finally {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

async function writeCertificates(folder: string, hosts: readonly string[]): Promise<void> {
  const authority = await createAuthority();
  const { cert, key } = await authority.issue({ hosts });
  const files = [
    ["ca.pem", authority.cert],
    ["appliance.pem", cert],
    ["appliance.key", key],
  ] as const;
  await Promise.all(files.map(([name, text]) => writeFile(join(folder, name), text)));
}

/** Starts an exporter in the network of the lab. The credentials of the appliances also allow a client to plan work at this exporter. */
export async function startExporter(
  sandbox: Sandbox,
  folder: string,
  config: object,
  port = EXPORTER_PORT,
): Promise<{ readonly fleet: Fleet; readonly access: readonly string[] }> {
  const name = `exporter-${port}`;
  const client = { basic_auth: CREDENTIALS, tls_config: { ca_file: "ca.pem" } };
  const { username, password } = CREDENTIALS;
  const hash = await bcrypt({ password, salt: randomBytes(16), costFactor: 4, outputType: "encoded" });
  const files = {
    [`${name}.yaml`]: { http_client: client, ...config },
    [`${name}-web.yaml`]: { basic_auth_users: { [username]: hash } },
    [`${name}-operator.yaml`]: { http_client: { basic_auth: CREDENTIALS } },
  };
  for (const [file, content] of Object.entries(files))
    await writeFile(join(folder, file), JSON.stringify(content));
  const address = `127.0.0.1:${port}`;
  const web = [
    `--web.listen-address=${address}`,
    `--web.config.file=${name}-web.yaml`,
    "--web.enable-maintenance",
  ];
  const command = [process.execPath, COMMAND, "run", `--config.file=${name}.yaml`, ...web];
  const exporter = start(sandbox, command, {
    name,
    place: "lab",
    folder,
  });
  await exporter.printed(/exporter started/);
  const url = `http://${address}`;
  const curl = ["curl", "-s", "-u", `${username}:${password}`, `${url}/api/v1/fleet`];
  return {
    fleet: async () => JSON.parse(await sandbox.run("lab", curl)),
    access: [`--url=${url}`, `--http.config.file=${join(folder, `${name}-operator.yaml`)}`],
  };
}
