import { hasExpired, type PresentedCertificate } from "../client/certificate.ts";
import { createClients, type CreateClient } from "../client/clients.ts";
import type { Failure } from "../client/failure.ts";
import type { ApplianceConfig, KnownCertificatesConfig } from "../config/config.ts";
import { replaceCertificates } from "../config/known-certificates.ts";
import { loadConfig } from "../config/load.ts";
import { NO_SUCH_FILE, readConfigText } from "../config/read-file.ts";
import { listFew } from "../config/shared-addresses.ts";
import { groupBy } from "../support/group-by.ts";
import { replaceFile } from "../support/replace-file.ts";
import { forAll } from "./all-appliances.ts";
import type { Flags } from "./flags.ts";
import type { ExitCode, Io } from "./io.ts";
import { describeUnknown, formatEnd, printErrors, toJson } from "./report.ts";
import { formatTable, type Cell, type Tone } from "./table.ts";

/** An appliance with a known_certificates_file. */
interface Candidate {
  readonly appliance: ApplianceConfig;
  readonly known: KnownCertificatesConfig;
}

/** What an appliance presents, compared with what the file has. */
type Presented = Candidate &
  (
    | { readonly state: "new" | "known" | "changed"; readonly certificate: PresentedCertificate }
    | { readonly state: "failed"; readonly failure: Failure }
  );

type Trustworthy = Extract<Presented, { readonly state: "new" | "known" | "changed" }>;

/**
 * Shows the certificates of the named appliances, or of all that are enabled and have a known_certificates_file, and adds
 * those that the user confirms. Makes TLS handshakes only, so sends no credentials. Writes nothing if it is stopped before all
 * questions are answered. Exit code 0: all are known now.
 */
export async function trust(flags: Flags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const { "config.file": file, output: format } = flags;
  const loaded = await loadConfig(file);
  if (!loaded.ok) return printErrors(loaded.errors, io);
  const chosen = choose(loaded.config.appliances, names, file);
  if (!chosen.ok) {
    io.err(chosen.message);
    return chosen.exitCode;
  }
  const createClient = createClients(io, io.clock);
  const stopped = io.stopRequested.then(() => undefined);
  const presented = await Promise.race([
    forAll(chosen.candidates, io, (candidate) => present(candidate, createClient)),
    stopped,
  ]);
  if (presented === undefined) return interrupted(io);
  if (format === "table") io.out(presentedTable(presented, io));
  const confirmed = await Promise.race([confirm(presented.filter(isTrustworthy), flags, io), stopped]);
  if (confirmed === undefined) return interrupted(io);
  const added = await save(confirmed, flags, io);
  const isSuccess = presented.every((each) => each.state === "known" || added.has(each));
  if (format === "json") {
    io.out(toJson({ ok: isSuccess, appliances: presented.map((each) => jsonOf(each, added.has(each))) }));
  }
  return isSuccess ? 0 : 1;
}

function interrupted(io: Io): ExitCode {
  io.err("\ninterrupted: nothing is written\n");
  return 1;
}

type Chosen =
  | { readonly ok: true; readonly candidates: readonly Candidate[] }
  | { readonly ok: false; readonly message: string; readonly exitCode: ExitCode };

/** The named appliances, or all enabled ones with a known_certificates_file. */
function choose(appliances: readonly ApplianceConfig[], names: readonly string[], file: string): Chosen {
  const unknown = names.filter((name) => appliances.every((appliance) => appliance.name !== name));
  if (unknown.length > 0) {
    const message = unknown.map((name) => describeUnknown(name, file, appliances)).join("");
    return { ok: false, message, exitCode: 2 };
  }
  const hasNames = names.length > 0;
  const wanted = appliances.filter(({ name, enabled }) => (hasNames ? names.includes(name) : enabled));
  const candidates = wanted.flatMap(candidateOf);
  const lacking = wanted.filter((appliance) => candidateOf(appliance).length === 0).map(({ name }) => name);
  const isComplete = hasNames ? lacking.length === 0 : candidates.length > 0;
  if (isComplete) return { ok: true, candidates };
  const what = "https:// base_url and tls_config.known_certificates_file";
  const message = hasNames
    ? `${file}: without ${what}: ${listFew(lacking)}\n`
    : `${file}: no appliance has an ${what}\n`;
  return { ok: false, message, exitCode: 1 };
}

function candidateOf(appliance: ApplianceConfig): readonly Candidate[] {
  const known = appliance.http.tls.knownCertificates;
  return known === undefined || !appliance.baseUrl.startsWith("https:") ? [] : [{ appliance, known }];
}

/** Connects to an appliance as polls do, but trusts no certificate: the connection ends after the handshake. */
async function present(candidate: Candidate, createClient: CreateClient): Promise<Presented> {
  const { baseUrl, http, polling } = candidate.appliance;
  const tls = { ...http.tls, certificateSha256: [] };
  const client = createClient({ baseUrl, http: { ...http, basicAuth: undefined, tls } });
  const answer = await client.get("/", polling.vrrp.timeoutMs);
  client.close();
  const certificate = client.certificate();
  if (certificate !== undefined)
    return { ...candidate, state: stateOf(certificate, http.tls.certificateSha256), certificate };
  const failure = answer.ok
    ? ({ reason: "tls", message: "no certificate was presented" } as const)
    : answer.failure;
  return { ...candidate, state: "failed", failure };
}

function stateOf({ sha256 }: PresentedCertificate, known: readonly string[]): "new" | "known" | "changed" {
  if (known.length === 0) return "new";
  return known.includes(sha256) ? "known" : "changed";
}

function isTrustworthy(presented: Presented): presented is Trustworthy {
  return presented.state !== "failed";
}

/** Those that the user confirms: the new ones together, each changed one by itself. */
async function confirm(
  presented: readonly Trustworthy[],
  { yes: addsNew = false, yesChanged: replaces = false, output }: Flags,
  io: Io,
): Promise<readonly Trustworthy[]> {
  const fresh = presented.filter(({ state }) => state === "new");
  const changed = presented.filter(({ state }) => state === "changed");
  // JSON has no table that a user could compare.
  const answer = async (question: string) => (output === "json" ? undefined : io.ask(`${question} [y/N] `));
  const isConfirmed = async (question: string) => /^\s*y(es)?\s*$/i.test((await answer(question)) ?? "");

  const confirmed: Trustworthy[] = [];
  const question = `Compare each SHA-256 with the one that the appliance itself shows. Trust ${count(fresh.length)}?`;
  if (fresh.length > 0 && (addsNew || (await isConfirmed(question)))) confirmed.push(...fresh);
  else if (fresh.length > 0)
    io.err(`not added: ${count(fresh.length)}; --yes adds new ones without a question\n`);
  for (const each of changed) {
    const { appliance, certificate } = each;
    const change = `${appliance.name}: the certificate has changed from ${knownTo(each).join(" or ")} to ${certificate.sha256}`;
    if (replaces || (await isConfirmed(`${change}. Trust the new one?`))) confirmed.push(each);
    else io.err(`${change}; not replaced, --yes-changed replaces it without a question\n`);
  }
  return confirmed;
}

function count(certificates: number): string {
  return certificates === 1 ? "one certificate" : `${certificates} certificates`;
}

function knownTo({ appliance }: Candidate): readonly string[] {
  return appliance.http.tls.certificateSha256;
}

/** Writes the certificates to their files; returns those that are written. */
async function save(
  confirmed: readonly Trustworthy[],
  { output }: Flags,
  io: Io,
): Promise<ReadonlySet<Presented>> {
  const saved = new Set<Presented>();
  for (const [path, ofFile] of groupBy(confirmed, ({ known }) => known.path)) {
    const failure = await addTo(path, ofFile);
    if (failure !== undefined) {
      io.err(`cannot write ${path}: ${failure}\n`);
      continue;
    }
    for (const each of ofFile) saved.add(each);
    if (output === "table") io.out(`${path}: ${count(ofFile.length)} written\n`);
  }
  return saved;
}

/** Returns why the file cannot be written. */
async function addTo(path: string, confirmed: readonly Trustworthy[]): Promise<string | undefined> {
  const trusted = new Map(
    confirmed.map(({ appliance, certificate }) => [appliance.name, certificate.sha256]),
  );
  try {
    await replaceFile(path, async () => {
      const read = await readConfigText(path);
      if (!read.ok && read.message !== NO_SUCH_FILE) throw new Error(read.message);
      return replaceCertificates(read.ok ? read.text : "", trusted);
    });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : "unknown error";
  }
}

const TONES: Readonly<Record<Presented["state"], Tone>> = {
  new: "warning",
  known: "success",
  changed: "failure",
  failed: "failure",
};

function presentedTable(presented: readonly Presented[], { hasColor, clock }: Io): string {
  const header = ["appliance", "address", "subject", "valid until", "sha256", "state"];
  const rows = presented.flatMap((each) => rowsOf(each, clock.wallMs()));
  return formatTable(header, rows, hasColor);
}

function rowsOf(presented: Presented, nowMs: number): readonly (readonly Cell[])[] {
  const { state, appliance } = presented;
  const start = [appliance.name, new URL(appliance.baseUrl).host];
  const tone = TONES[state];
  if (presented.state === "failed") {
    const { reason, message } = presented.failure;
    return [[...start, "", "", "", { text: `${reason}: ${message}`, tone }]];
  }
  const { certificate } = presented;
  const old = state === "changed" ? knownTo(presented) : [];
  const text = hasExpired(certificate, nowMs) ? `${state}, expired` : state;
  return [
    [...start, certificate.subject, formatEnd(certificate), certificate.sha256, { text, tone }],
    ...old.map((sha256) => ["", "", "", "", sha256, "known before"]),
  ];
}

function jsonOf(presented: Presented, isAdded: boolean): Record<string, unknown> {
  const { appliance, known, ...rest } = presented;
  const { name, baseUrl } = appliance;
  return {
    appliance: name,
    address: new URL(baseUrl).host,
    file: known.path,
    known: knownTo(presented),
    isAdded,
    ...rest,
  };
}
