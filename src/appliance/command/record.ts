import { writeFile } from "node:fs/promises";
import { stringify } from "yaml";
import { anonymizeBody, createNumbering, type Numbering } from "../../exporter/api/anonymize.ts";
import { apiOf } from "../../exporter/api/kinds.ts";
import type { AnyApiOperation } from "../../exporter/api/operation.ts";
import { CONTENT_TYPES, type Recording } from "../replay.ts";
import type { ReceivedAnswer } from "../../exporter/client/client.ts";
import { messageOf } from "../../support/errors.ts";
import { fail, isConfirmed, type ExitCode, type Io } from "../../exporter/command/command.ts";
import type { PolledAppliance } from "../../exporter/command/poll-report.ts";

/** Shows the anonymized answers and writes them to a new file once the user confirms. */
export async function record(
  polled: PolledAppliance,
  file: string,
  isAccepted: boolean,
  io: Io,
): Promise<ExitCode> {
  const text = stringify(recordingOf(polled, io), { lineWidth: 0, blockQuote: "literal" });
  const { results } = polled;
  if (results.some(({ answer }) => answer !== undefined && answer.redact(text) !== text))
    return fail(io, "nothing is written: the file would contain the password");
  io.out(`${text}\n`);
  if (!isAccepted && !(await isConfirmed(io, `Write this to ${file}?`)))
    return fail(io, "nothing is written; --yes writes without a question");
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o600 });
  } catch (error) {
    return fail(io, `cannot write ${file}: ${messageOf(error)}`);
  }
  io.out(`${file}: answers written: ${results.length}\n`);
  return 0;
}

/** Returns the recording, in which equal names and addresses have equal replacements in all answers. */
function recordingOf(
  { appliance, results }: PolledAppliance,
  { version, build }: Pick<Io, "version" | "build">,
): Recording {
  const number = createNumbering();
  const answers = results.map(({ observation, answer }) => {
    const { kind: operation, outcome } = observation;
    const api = apiOf(appliance.kind, operation);
    return {
      operation,
      website_id: "websiteId" in observation ? observation.websiteId : undefined,
      result: outcome.ok ? "ok" : outcome.failure.reason,
      ...(answer && api && recorded(api, answer, number)),
    };
  });
  return { exporter: version, node: build.nodeVersion, kind: appliance.kind, answers };
}

function recorded(api: AnyApiOperation, { status, contentType, bytes }: ReceivedAnswer, number: Numbering) {
  const [mediaType = ""] = contentType.toLowerCase().split(/[ ;]/, 1);
  const head = {
    status,
    content_type: CONTENT_TYPES.find((known) => known === mediaType) ?? "other",
  } as const;
  if (status !== 200) return head;
  const body = anonymizeBody(bytes, api.anonymize, number);
  return { ...head, findings: findingsIn(api, body), body };
}

const MAX_FINDINGS = 64;

/** Decodes the recorded body, so that a finding contains no other part of the answer. */
function findingsIn(api: AnyApiOperation, body: string): string[] {
  const decoded = api.decode(Buffer.from(body), (text) => text);
  if (!decoded.ok) return [decoded.failure.message];
  const { value } = decoded;
  const all = "anomalies" in value ? value.anomalies : "invalid" in value ? value.invalid : [];
  return [...new Set(all)].slice(0, MAX_FINDINGS);
}
