import { open, rm } from "node:fs/promises";
import { stringify } from "yaml";
import { anonymizeBody, createNumbering, type Numbering } from "../api/anonymize.ts";
import { OPERATIONS, type OperationKind } from "../api/operations.ts";
import { CONTENT_TYPES, type Recording } from "../appliance/replay.ts";
import type { ReceivedAnswer } from "../client/client.ts";
import { messageOf } from "../support/errors.ts";
import { isConfirmed, type Io } from "./command.ts";
import type { OperationResult } from "./poll-report.ts";

/** Shows the anonymized answers and writes them to a new file once the user confirms; returns whether they are written. */
export async function record(
  results: readonly OperationResult[],
  file: string,
  isAccepted: boolean,
  io: Io,
): Promise<boolean> {
  const text = stringify(recordingOf(results, io), { lineWidth: 0, blockQuote: "literal" });
  if (results.some(({ answer }) => answer !== undefined && answer.redact(text) !== text)) {
    io.err("nothing is written: the file would contain the password\n");
    return false;
  }
  io.out(`${text}\n`);
  if (!isAccepted && !(await isConfirmed(io, `Write this to ${file}?`))) {
    io.err("nothing is written; --yes writes without a question\n");
    return false;
  }
  try {
    await writeNew(file, text);
  } catch (error) {
    io.err(`cannot write ${file}: ${messageOf(error)}\n`);
    return false;
  }
  io.out(`${file}: answers written: ${results.length}\n`);
  return true;
}

/** Leaves no part of a file behind. */
async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** Equal names and addresses are replaced by equal ones in all answers. */
function recordingOf(
  results: readonly OperationResult[],
  { version, build }: Pick<Io, "version" | "build">,
): Recording {
  const number = createNumbering();
  const answers = results.map(({ observation, answer }) => {
    const { kind, outcome } = observation;
    return {
      operation: kind,
      ...("websiteId" in observation ? { website_id: observation.websiteId } : {}),
      result: outcome.ok ? "ok" : outcome.failure.reason,
      ...(answer === undefined ? {} : recorded(kind, answer, number)),
    };
  });
  return { exporter: version, node: build.nodeVersion, answers };
}

function recorded(kind: OperationKind, { status, contentType, bytes }: ReceivedAnswer, number: Numbering) {
  const [mediaType = ""] = contentType.toLowerCase().split(/[ ;]/, 1);
  const head = {
    status,
    content_type: CONTENT_TYPES.find((known) => known === mediaType) ?? "other",
  } as const;
  if (status !== 200) return head;
  const body = anonymizeBody(bytes, OPERATIONS[kind].anonymize, number);
  return { ...head, findings: findingsIn(kind, body), body };
}

const MAX_FINDINGS = 64;

/** Decodes what is recorded, so that nothing else of the answer can be in a finding. */
function findingsIn(kind: OperationKind, body: string): string[] {
  const decoded = OPERATIONS[kind].decode(Buffer.from(body), (text) => text);
  if (!decoded.ok) return [decoded.failure.message];
  const { value } = decoded;
  const all = "anomalies" in value ? value.anomalies : "invalid" in value ? value.invalid : [];
  return [...new Set(all)].slice(0, MAX_FINDINGS);
}
