import type { ApplianceConfig } from "../config/config.ts";
import { replaceCertificates } from "../config/known-certificates.ts";
import { NO_SUCH_FILE, readTextFile } from "../config/read-file.ts";
import { groupBy } from "../../support/group-by.ts";
import { listedBriefly } from "../../support/text.ts";
import { confirmNew, isTrusted, showCertificates, type CertificateCheck } from "./certificates.ts";
import { fail, isConfirmed, loadNamed, type ExitCode, type Flags, type Io } from "./command.ts";
import { describeWriteError, replaceFile } from "./files.ts";

/**
 * Shows the certificates of the named appliances, or of all that are enabled and not trusted by other settings, and adds those that the
 * user confirms. Sends no credentials. Writes nothing if it is stopped before all questions are answered. Returns 0 if all certificates are
 * trusted now.
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
  const areKnown = answers.every((answer) => isTrusted(answer) || confirmed.includes(answer));
  return isWritten && areKnown ? 0 : 1;
}

function hasFile({ baseUrl, http: { tls } }: ApplianceConfig): boolean {
  return baseUrl.startsWith("https:") && tls.knownCertificates !== undefined;
}

async function showAndConfirm(appliances: readonly ApplianceConfig[], flags: Flags, io: Io) {
  const answers = await showCertificates(appliances, io);
  return { answers, confirmed: await confirm(answers, flags, io) };
}

/** Returns the answers that the user confirms: the new ones together, each changed one by itself. */
async function confirm(
  answers: readonly CertificateCheck[],
  flags: Flags,
  io: Io,
): Promise<readonly CertificateCheck[]> {
  const confirmed = [...(await confirmNew(answers, flags, io))];
  if (confirmed.length < answers.filter(({ state }) => state === "new").length)
    io.err("not added; --yes adds new certificates without a question\n");
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
      if (!read.ok && read.message !== NO_SUCH_FILE) {
        io.err(`cannot read ${file}: ${read.message}\n`);
        isSuccess = false;
        continue;
      }
      const trusted = ofFile.map(({ appliance, sha256 }) => [appliance.name, sha256] as const);
      await replaceFile(file, replaceCertificates(read.ok ? read.text : "", new Map(trusted)));
      io.out(`${file}: certificates written: ${ofFile.length}\n`);
    } catch (error) {
      isSuccess = false;
      io.err(`${await describeWriteError(file, error)}\n`);
    }
  }
  return isSuccess;
}
