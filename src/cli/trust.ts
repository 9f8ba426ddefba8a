import { hasExpired, type PresentedCertificate } from "../client/certificate.ts";
import { createClients, type CreateClient } from "../client/client.ts";
import type { Failure } from "../client/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { replaceCertificates } from "../config/known-certificates.ts";
import { loadConfig } from "../config/load.ts";
import { NO_SUCH_FILE, readConfigText } from "../config/read-file.ts";
import { listFew } from "../config/shared-addresses.ts";
import { groupBy } from "../support/group-by.ts";
import { replaceFile } from "../support/replace-file.ts";
import { forAll } from "./all-appliances.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeUnknown, formatEnd, printErrors } from "./report.ts";
import { formatTable, type Cell } from "./table.ts";

/** An appliance and its known_certificates_file. */
interface Candidate {
  readonly appliance: ApplianceConfig;
  readonly file: string;
}

/** A certificate, compared with what the file has. */
interface Presented extends Candidate {
  readonly state: "new" | "known" | "changed";
  readonly certificate: PresentedCertificate;
}

type Answer = Presented | (Candidate & { readonly state: "failed"; readonly failure: Failure });

/**
 * Shows the certificates of the named appliances, or of all that are enabled and have a known_certificates_file, and adds
 * those that the user confirms. Makes TLS handshakes only, so sends no credentials. Writes nothing if it is stopped before all
 * questions are answered. Exit code 0: all are known now.
 */
export async function trust(flags: Flags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const configFile = flags["config.file"];
  const loaded = await loadConfig(configFile);
  if (!loaded.ok) return printErrors(loaded.errors, io);
  const { appliances } = loaded.config;
  const unknown = names.filter((name) => appliances.every((appliance) => appliance.name !== name));
  if (unknown.length > 0) {
    io.err(unknown.map((name) => describeUnknown(name, configFile, appliances)).join(""));
    return 2;
  }
  const wanted = appliances.filter(({ name, enabled }) =>
    names.length > 0 ? names.includes(name) : enabled,
  );
  const candidates = wanted.flatMap(candidateOf);
  if (candidates.length === 0 || (names.length > 0 && candidates.length < wanted.length)) {
    const lacking = wanted.filter((appliance) => candidateOf(appliance).length === 0);
    const what = "https:// base_url and tls_config.known_certificates_file";
    io.err(`${configFile}: without ${what}: ${listFew(lacking.map(({ name }) => name))}\n`);
    return 1;
  }
  const confirmed = await Promise.race([showAndConfirm(candidates, flags, io), io.stopRequested]);
  if (confirmed === undefined) {
    io.err("\ninterrupted: nothing is written\n");
    return 1;
  }
  return (await save(confirmed.certificates, io)) && confirmed.areAll ? 0 : 1;
}

function candidateOf(appliance: ApplianceConfig): readonly Candidate[] {
  const file = appliance.http.tls.knownCertificates?.path;
  return file === undefined || !appliance.baseUrl.startsWith("https:") ? [] : [{ appliance, file }];
}

/** `areAll`: whether every appliance presents a certificate that is known or confirmed. */
async function showAndConfirm(candidates: readonly Candidate[], flags: Flags, io: Io) {
  const createClient = createClients(io, io.clock);
  const answers = await forAll(candidates, io, (candidate) => present(candidate, createClient));
  const header = ["appliance", "address", "subject", "valid until", "sha256", "state"];
  const rows = answers.map((answer) => rowOf(answer, io.clock.wallMs()));
  io.out(formatTable(header, rows, io.hasColor));
  const certificates = await confirm(answers.filter(hasCertificate), flags, io);
  const known = answers.filter(({ state }) => state === "known");
  return { certificates, areAll: known.length + certificates.length === answers.length };
}

/** Connects to an appliance as polls do, but trusts no certificate: the connection ends after the handshake. */
async function present(candidate: Candidate, createClient: CreateClient): Promise<Answer> {
  const { baseUrl, http, polling } = candidate.appliance;
  const tls = { ...http.tls, certificateSha256: [] };
  const client = createClient({ baseUrl, http: { ...http, basicAuth: undefined, tls } });
  const answer = await client.get("/", polling.vrrp.timeoutMs);
  client.close();
  const certificate = client.certificate();
  if (certificate !== undefined) return { ...candidate, state: stateOf(certificate, candidate), certificate };
  const nothing: Failure = { reason: "tls", message: "no certificate was presented" };
  return { ...candidate, state: "failed", failure: answer.ok ? nothing : answer.failure };
}

function stateOf({ sha256 }: PresentedCertificate, candidate: Candidate): Presented["state"] {
  const known = knownTo(candidate);
  if (known.length === 0) return "new";
  return known.includes(sha256) ? "known" : "changed";
}

function knownTo({ appliance }: Candidate): readonly string[] {
  return appliance.http.tls.certificateSha256;
}

function hasCertificate(answer: Answer): answer is Presented {
  return answer.state !== "failed";
}

const TONES = { new: "warning", known: "success", changed: "failure" } as const;

function rowOf(answer: Answer, nowMs: number): readonly Cell[] {
  const { appliance, state } = answer;
  const start = [appliance.name, new URL(appliance.baseUrl).host];
  if (state === "failed") {
    const { reason, message } = answer.failure;
    return [...start, "", "", "", { text: `${reason}: ${message}`, tone: "failure" }];
  }
  const { certificate } = answer;
  const text = hasExpired(certificate, nowMs) ? `${state}, expired` : state;
  return [
    ...start,
    certificate.subject,
    formatEnd(certificate),
    certificate.sha256,
    { text, tone: TONES[state] },
  ];
}

/** Those that the user confirms: the new ones together, each changed one by itself. */
async function confirm(
  presented: readonly Presented[],
  { yes: addsNew = false }: Flags,
  io: Io,
): Promise<readonly Presented[]> {
  const isConfirmed = async (question: string) =>
    /^\s*y(es)?\s*$/i.test((await io.ask(`${question} [y/N] `)) ?? "");
  const confirmed: Presented[] = [];
  const fresh = presented.filter(({ state }) => state === "new");
  const question = `Compare each SHA-256 with the one that the appliance itself shows. Trust ${count(fresh.length)}?`;
  if (fresh.length > 0 && (addsNew || (await isConfirmed(question)))) confirmed.push(...fresh);
  else if (fresh.length > 0)
    io.err(`not added: ${count(fresh.length)}; --yes adds new ones without a question\n`);
  for (const each of presented.filter(({ state }) => state === "changed")) {
    const change = `${each.appliance.name}: the certificate has changed from ${knownTo(each).join(" or ")} to ${each.certificate.sha256}`;
    if (await isConfirmed(`${change}. Trust the new one?`)) confirmed.push(each);
    else io.err(`${change}; not replaced: confirm it on a terminal\n`);
  }
  return confirmed;
}

function count(certificates: number): string {
  return certificates === 1 ? "one certificate" : `${certificates} certificates`;
}

/** Writes the certificates to their files; returns whether all are written. */
async function save(confirmed: readonly Presented[], io: Io): Promise<boolean> {
  let isSuccess = true;
  for (const [file, ofFile] of groupBy(confirmed, (each) => each.file)) {
    try {
      await addTo(file, ofFile);
      io.out(`${file}: ${count(ofFile.length)} written\n`);
    } catch (error) {
      isSuccess = false;
      io.err(`cannot write ${file}: ${error instanceof Error ? error.message : "unknown error"}\n`);
    }
  }
  return isSuccess;
}

async function addTo(file: string, confirmed: readonly Presented[]): Promise<void> {
  const trusted = new Map(
    confirmed.map(({ appliance, certificate }) => [appliance.name, certificate.sha256]),
  );
  await replaceFile(file, async () => {
    const read = await readConfigText(file);
    if (!read.ok && read.message !== NO_SUCH_FILE) throw new Error(read.message);
    return replaceCertificates(read.ok ? read.text : "", trusted);
  });
}
