import { randomUUID } from "node:crypto";
import { open, readlink, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { adviceOn } from "../api/advice.ts";
import { createClients, type CreateClient } from "../client/client.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { replaceCertificates } from "../config/known-certificates.ts";
import { NO_SUCH_FILE, readTextFile } from "../config/read-file.ts";
import { messageOf } from "../../support/errors.ts";
import { groupBy } from "../../support/group-by.ts";
import { count, listedBriefly } from "../../support/text.ts";
import { fail, isConfirmed, loadNamed, type ExitCode, type Flags, type Io } from "./command.ts";
import { perAppliance } from "./poll-once.ts";
import { formatEnd } from "./poll-report.ts";
import { formatTable, type TableRow } from "./format.ts";

const COLORS = { new: "yellow", known: "green", changed: "red", failed: "red" } as const;

/** The certificate that an appliance presents, compared with the known ones. */
interface CertificateCheck {
  readonly appliance: ApplianceConfig;
  readonly state: keyof typeof COLORS;
  /** The fingerprint; empty without a certificate. */
  readonly sha256: string;
  readonly row: TableRow;
  /** What to do about a failure. */
  readonly advice?: string;
}

/**
 * Shows the certificates of the named appliances, or of all that are enabled and have a known_certificates_file, and adds those that the
 * user confirms. Makes TLS handshakes only, so sends no credentials. Writes nothing if it is stopped before all questions are answered.
 * Returns 0 if all certificates are known now.
 */
export async function trust(flags: Flags, io: Io, names: readonly string[]): Promise<ExitCode> {
  const file = flags["config.file"];
  const loaded = await loadNamed(flags, io, names);
  if (typeof loaded === "number") return loaded;
  const { appliances, named } = loaded;
  const wanted = names.length > 0 ? named : named.filter((each) => each.enabled && hasFile(each));
  if (appliances.length === 0) return fail(io, `${file}: it has no appliances`);
  if (wanted.length === 0 || !wanted.every(hasFile)) {
    const all = (names.length > 0 ? wanted : appliances).map(({ name }) => name);
    const lacking = listedBriefly(all);
    return fail(
      io,
      `${file}: set an https:// base_url and tls_config.known_certificates_file for ${lacking}`,
    );
  }
  const shown = await Promise.race([showAndConfirm(wanted, flags, io), io.stopRequested]);
  if (shown === undefined) return fail(io, "\ninterrupted: nothing is written");
  const { answers, confirmed } = shown;
  const isWritten = await save(confirmed, io);
  const areKnown = answers.every((answer) => answer.state === "known" || confirmed.includes(answer));
  return isWritten && areKnown ? 0 : 1;
}

function hasFile({ baseUrl, http: { tls } }: ApplianceConfig): boolean {
  return baseUrl.startsWith("https:") && tls.knownCertificates !== undefined;
}

async function showAndConfirm(appliances: readonly ApplianceConfig[], flags: Flags, io: Io) {
  const createClient = createClients(io, io.clock);
  const answers = await perAppliance(appliances, io, (appliance) => present(appliance, createClient));
  const header = ["appliance", "address", "subject", "valid until", "sha256", "state"];
  const rows = answers.map(({ row }) => row);
  io.out(formatTable(header, rows, io.hasColor));
  const advice = answers.flatMap(({ appliance: { name }, advice: text }) =>
    text === undefined ? [] : `${name}: ${text}\n`,
  );
  if (advice.length > 0) io.out(`\nWhat to do:\n${advice.join("")}`);
  return { answers, confirmed: await confirm(answers, flags, io) };
}

/** Connects to an appliance as polls do, but trusts no certificate: the connection ends after the handshake. */
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
    const advice = answer.ok ? undefined : adviceOn(answer.failure, { baseUrl });
    return { appliance, state: "failed", sha256: "", row, ...(advice !== undefined && { advice }) };
  }
  const { subject, sha256 } = certificate;
  const known = http.tls.certificateSha256;
  const state = known.length === 0 ? "new" : known.includes(sha256) ? "known" : "changed";
  const cell = { text: state, color: COLORS[state] };
  return { appliance, state, sha256, row: [name, host, subject, formatEnd(certificate), sha256, cell] };
}

/** Returns the answers that the user confirms: the new ones together, each changed one by itself. */
async function confirm(
  answers: readonly CertificateCheck[],
  flags: Flags,
  io: Io,
): Promise<readonly CertificateCheck[]> {
  const fresh = answers.filter(({ state }) => state === "new");
  const many = count(fresh.length, "certificate");
  const question = `Compare each SHA-256 with the one that the appliance itself shows. Trust ${many}?`;
  const confirmed =
    fresh.length > 0 && (flags.yes === true || (await isConfirmed(io, question))) ? [...fresh] : [];
  if (confirmed.length < fresh.length) io.err("not added; --yes adds new certificates without a question\n");
  for (const each of answers.filter(({ state }) => state === "changed")) {
    const { appliance, sha256 } = each;
    const known = appliance.http.tls.certificateSha256.join(" or ");
    const change = `${appliance.name}: the certificate has changed from ${known} to ${sha256}`;
    if (await isConfirmed(io, `${change}. Trust the new one?`)) confirmed.push(each);
    else io.err(`${change}; not replaced: confirm it on a terminal\n`);
  }
  return confirmed;
}

/** Writes the certificates to their files; returns whether all are written. */
async function save(confirmed: readonly CertificateCheck[], io: Io): Promise<boolean> {
  let isSuccess = true;
  const byFile = groupBy(confirmed, ({ appliance }) => appliance.http.tls.knownCertificates?.path ?? "");
  for (const [file, ofFile] of byFile) {
    try {
      const read = await readTextFile(file);
      if (!read.ok && read.message !== NO_SUCH_FILE) throw new Error(read.message);
      const trusted = ofFile.map(({ appliance, sha256 }) => [appliance.name, sha256] as const);
      await replaceFile(file, replaceCertificates(read.ok ? read.text : "", new Map(trusted)));
      io.out(`${file}: certificates written: ${ofFile.length}\n`);
    } catch (error) {
      isSuccess = false;
      io.err(`cannot write ${file}: ${messageOf(error)}\n`);
    }
  }
  return isSuccess;
}

const NEW_FILE_MODE = 0o644;

/** Returns where the links of a path lead, even if no file is there. */
async function targetOf(path: string): Promise<string> {
  const link = await readlink(path).catch(() => undefined);
  return link === undefined ? path : targetOf(resolve(await realpath(dirname(path)), link));
}

/**
 * Replaces a file so that readers see the old text or the new one. A file keeps its mode and, if permitted, its owner; a link stays a link.
 */
async function replaceFile(path: string, text: string): Promise<void> {
  const target = await targetOf(path);
  const before = await stat(target).catch(() => undefined);
  const temporary = `${target}.${randomUUID()}`;
  // The flag wx creates a new file: a link of this name, from whoever may write to the folder, must not redirect the text.
  const file = await open(temporary, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
    if (before !== undefined) await file.chown(before.uid, before.gid).catch(() => {});
    await file.chmod(before?.mode ?? NEW_FILE_MODE);
    await rename(temporary, target);
  } finally {
    await file.close();
    await rm(temporary, { force: true });
  }
}
