import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "../../support/errors.ts";
import { inSlices } from "../../support/slices.ts";
import { FILE_MODE, openRegular, removeTemporary } from "./day-files.ts";
import { sealed, unsealed } from "./lines.ts";
import { atOf, formatRecord, kindOf, type JournalRecord } from "./record.ts";

const NAME = "ongoing.jsonl";
const TEMPORARY = /^ongoing\.jsonl\.[\w-]+\.tmp$/;
/** The most bytes of the file, and of one cluster in it. */
const MAX_BYTES = 8 * 2 ** 20;
const CLUSTER_BYTES = 64 * 1024;
const PART_UNITS = 64 * 1024;

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
  const parts = await partsOf(records);
  await removeTemporary(folder, TEMPORARY);
  const [path, temporary] = [join(folder, NAME), join(folder, `${NAME}.${randomUUID()}.tmp`)];
  try {
    const file = await open(temporary, "wx", FILE_MODE);
    try {
      await writeFile(file, parts);
      await file.datasync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns the content of the file, in parts: to make one text of 8 MiB would keep the event loop. */
async function partsOf(records: readonly JournalRecord[]): Promise<readonly string[]> {
  const names = new Set(records.flatMap((each) => ("cluster" in each ? each.cluster : [])));
  const share = Math.min(CLUSTER_BYTES, MAX_BYTES / names.size);
  const used = new Map<string, number>();
  const parts: string[] = [];
  let [part, nth] = ["", 0];

  /** Returns the line of a record, or that nothing more is known of its cluster; nothing if a line before says so. */
  function lineOf(record: JournalRecord): string | undefined {
    if (!("cluster" in record)) return formatRecord(record);
    const { at, cluster } = record;
    const before = used.get(cluster) ?? 0;
    if (before > share) return undefined;
    const line = formatRecord(record);
    const bytes = before + Buffer.byteLength(line);
    used.set(cluster, bytes);
    return bytes > share ? formatRecord({ at, kind: "lost", cluster }) : line;
  }

  await inSlices(records, (record) => {
    const line = lineOf(record);
    if (line === undefined) return;
    part += `${sealed(line, nth)}\n`;
    nth += 1;
    if (part.length < PART_UNITS) return;
    parts.push(part);
    part = "";
  });
  return [...parts, part];
}

/** Returns what the file has; `undefined` if there is none, or if it cannot be used, which `onDamaged` receives. */
export async function readOngoing(
  folder: string,
  onDamaged: (path: string, error: unknown) => void,
): Promise<OngoingLines | undefined> {
  const path = join(folder, NAME);
  try {
    return await linesIn(await textIn(path));
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

async function linesIn(text: string): Promise<OngoingLines> {
  const given = text.split("\n");
  const isTorn = given.pop() !== "";
  const lines: string[] = [];
  await inSlices(given, (line) => {
    const found = unsealed(line);
    if (typeof found === "string" || found.nth !== lines.length) throw new Error("damaged");
    lines.push(found.line);
  });
  const last = lines.at(-1) ?? "";
  if (isTorn || kindOf(last) !== "alive") throw new Error("damaged");
  return { at: atOf(last), lines };
}
