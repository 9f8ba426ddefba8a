import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../support/errors.ts";
import { inSlices } from "../../support/slices.ts";
import { FILE_MODE, openRegular } from "./day-files.ts";
import { sealed, unsealed } from "./lines.ts";
import { atOf, formatRecord, kindOf, type JournalRecord } from "./record.ts";

const NAME = "ongoing.jsonl";
/** The most bytes of the file, and of one cluster in it. */
const MAX_BYTES = 8 * 2 ** 20;
const CLUSTER_BYTES = 64 * 1024;

/**
 * What goes on at an instant: windows, incidents that are not over, and what is wrong in clusters with a window. A cluster that is `lost`
 * has more.
 */
export interface OngoingLines {
  /** The instant, as in the records. */
  readonly at: string;
  readonly lines: readonly string[];
}

/** Replaces the file of what goes on, by records of which the last one is a mark. */
export async function writeOngoing(folder: string, records: readonly JournalRecord[]): Promise<void> {
  const text = await textOf(records);
  const [path, temporary] = [join(folder, NAME), join(folder, `${NAME}.${randomUUID()}.tmp`)];
  try {
    const file = await open(temporary, "wx", FILE_MODE);
    try {
      await file.writeFile(text);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function textOf(records: readonly JournalRecord[]): Promise<string> {
  const names = new Set(records.flatMap((each) => ("cluster" in each ? each.cluster : [])));
  const share = Math.min(CLUSTER_BYTES, MAX_BYTES / names.size);
  const used = new Map<string, number>();
  let [text, nth] = ["", 0];
  await inSlices(records, (record) => {
    const line = formatRecord(record);
    const cluster = "cluster" in record ? record.cluster : undefined;
    const before = cluster === undefined ? 0 : (used.get(cluster) ?? 0);
    if (cluster !== undefined) used.set(cluster, before + line.length);
    const isFull = before + line.length > share;
    if (isFull && (cluster === undefined || before > share)) return;
    const lost =
      cluster !== undefined && isFull ? formatRecord({ at: record.at, kind: "lost", cluster }) : line;
    text += `${sealed(lost, nth)}\n`;
    nth += 1;
  });
  return text;
}

/** Returns what the file has; `undefined` if there is none, or if it cannot be used, which `onDamaged` receives. */
export async function readOngoing(
  folder: string,
  onDamaged: (path: string, error: unknown) => void,
): Promise<OngoingLines | undefined> {
  const path = join(folder, NAME);
  try {
    return linesIn(await textIn(path));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") onDamaged(path, error);
    return undefined;
  }
}

async function textIn(path: string): Promise<string> {
  const file = await openRegular(path, constants.O_RDONLY);
  try {
    const { size } = await file.stat();
    if (size > 2 * MAX_BYTES) throw new Error(`larger than ${2 * MAX_BYTES} bytes`);
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

function linesIn(text: string): OngoingLines {
  const lines = text.split("\n");
  const isTorn = lines.pop() !== "";
  const records = lines.map((given, nth) => {
    const found = unsealed(given);
    return typeof found === "string" || found.nth !== nth ? "" : found.line;
  });
  const last = records.at(-1) ?? "";
  if (isTorn || records.includes("") || kindOf(last) !== "alive") throw new Error("damaged");
  return { at: atOf(last), lines: records };
}
