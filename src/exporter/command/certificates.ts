import { adviceOn } from "../api/advice.ts";
import { kindNamed } from "../api/kinds.ts";
import { createClients, type CreateClient } from "../client/client.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { count } from "../../support/text.ts";
import { ignoredProxy, isConfirmed, type Flags, type Io } from "./command.ts";
import { perAppliance } from "./poll-once.ts";
import { formatEnd } from "./poll-report.ts";
import { formatTable, type TableRow } from "./format.ts";

const COLORS = { new: "yellow", known: "green", signed: "green", changed: "red", failed: "red" } as const;

/** The certificate that an appliance presents, compared with the known ones. */
export interface CertificateCheck {
  readonly appliance: ApplianceConfig;
  /** `signed`: an authority that is trusted has signed it, and nothing asks for more. */
  readonly state: keyof typeof COLORS;
  /** The fingerprint; empty without a certificate. */
  readonly sha256: string;
  readonly row: TableRow;
  /** What to do about a failure. */
  readonly advice?: string;
}

/** Whether polls accept the certificate as things are. */
export function isTrusted({ state }: CertificateCheck): boolean {
  return state === "known" || state === "signed";
}

/** Shows the certificates that appliances present, and what to do where there is none, also about a proxy. Sends no credentials. */
export async function showCertificates(
  appliances: readonly ApplianceConfig[],
  io: Io,
): Promise<readonly CertificateCheck[]> {
  const createClient = createClients(io, io.clock);
  const checks = await perAppliance(appliances, io, (appliance) => present(appliance, createClient));
  const header = ["appliance", "address", "subject", "valid until", "sha256", "state"];
  const rows = checks.map(({ row }) => row);
  io.out(formatTable(header, rows, io.hasColor));
  const advice = checks.flatMap(({ appliance: { name }, advice: text }) =>
    text === undefined ? [] : `${name}: ${text}\n`,
  );
  if (advice.length > 0) io.out(`\nWhat to do:\n${advice.join("")}`);
  const isUnreached = checks.some(({ state, appliance }) => state === "failed" && !appliance.http.proxy);
  for (const line of isUnreached ? ignoredProxy(io) : []) io.err(`${line}\n`);
  return checks;
}

/**
 * Connects to an appliance as polls do, but trusts no certificate: the connection ends after the handshake. Only where authorities decide, and
 * trust it, a request without credentials follows.
 */
async function present(appliance: ApplianceConfig, createClient: CreateClient): Promise<CertificateCheck> {
  const { name, baseUrl, http, polling } = appliance;
  const { host } = new URL(baseUrl);
  const tls = { ...http.tls, certificateSha256: [] };
  const client = createClient({ baseUrl, http: { ...http, basicAuth: undefined, tls } });
  const answer = await client.get("/", polling.vrrp.timeoutMs);
  client.close();
  const certificate = client.certificate();
  if (certificate === undefined) {
    const text = answer.ok ? "no certificate" : `${answer.failure.reason}: ${answer.failure.message}`;
    const row = [name, host, "", "", "", { text, color: "red" }] as const;
    const { port } = kindNamed(appliance.kind);
    const advice = answer.ok ? undefined : adviceOn(answer.failure, { baseUrl, port });
    return { appliance, state: "failed", sha256: "", row, ...(advice !== undefined && { advice }) };
  }
  const { subject, sha256 } = certificate;
  const known = http.tls.certificateSha256;
  // A status comes only from a peer that is trusted.
  const isSigned = answer.ok || answer.failure.status !== undefined;
  const unknown = isSigned ? "signed" : "new";
  const state = known.length === 0 ? unknown : known.includes(sha256) ? "known" : "changed";
  const cell = { text: state, color: COLORS[state] };
  return { appliance, state, sha256, row: [name, host, subject, formatEnd(certificate), sha256, cell] };
}

/** Returns the new ones if the user confirms them, all together. */
export async function confirmNew(
  checks: readonly CertificateCheck[],
  flags: Pick<Flags, "yes">,
  io: Io,
): Promise<readonly CertificateCheck[]> {
  const fresh = checks.filter(({ state }) => state === "new");
  const many = count(fresh.length, "certificate");
  const question = `Compare each SHA-256 with the one that the appliance itself shows. Trust ${many}?`;
  const isAccepted = fresh.length === 0 || flags.yes === true || (await isConfirmed(io, question));
  return isAccepted ? fresh : [];
}
