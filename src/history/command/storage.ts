import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { isTooLong } from "../journal/lock.ts";
import { parseDuration } from "../../support/duration.ts";
import { errorCode } from "../../support/errors.ts";
import { readFailure } from "../../exporter/config/read-file.ts";
import type { Flags } from "../../exporter/command/command.ts";

const SIZE = /^(\d+(?:\.\d+)?)([KMGT]?)B$/;
const UNITS = ["", "K", "M", "G", "T"];

export const STORAGE_PATH_FORM =
  "a folder whose path has at most 97 bytes, because that of a Unix socket in it has at most 107; choose a shorter path, or a " +
  "symbolic link to the folder";

export function parseStoragePath(folder: string): string | undefined {
  return isTooLong(folder) ? undefined : folder;
}

export function parseRetentionMs(text: string): number | undefined {
  return parseDuration(text) || undefined;
}

/** Parses a size in Prometheus's notation into bytes: each unit is 1,024 of the unit before. */
export function parseRetentionBytes(text: string): number | undefined {
  const [, number = "0", unit = ""] = SIZE.exec(text) ?? [];
  return Math.floor(Number(number) * 1024 ** UNITS.indexOf(unit)) || undefined;
}

type StorageFlags = Pick<Flags, keyof Flags & `storage.${string}`>;

/**
 * Returns where and how long to store; an empty path means no storage, so that a later flag can take back the path of a unit or an image.
 */
export function storageOf(flags: StorageFlags) {
  const { "storage.path": path = "" } = flags;
  const [retentionMs, retentionBytes] = [flags["storage.retention.time"], flags["storage.retention.size"]];
  return path === "" ? undefined : { path, retentionMs, retentionBytes };
}

const CREATE_IT = "create it for the user of the exporter, or choose another --storage.path";
const USABLE = constants.R_OK | constants.W_OK | constants.X_OK;

interface StorageProblem {
  /** Whether the folder is not there and cannot be created: a mistake, and not a fault of a disk. */
  readonly isUncreatable: boolean;
  readonly message: string;
}

/** Returns what prevents this user from keeping a journal. An exporter creates the folder, but not the parent folder. */
export async function storageProblem(flags: StorageFlags): Promise<StorageProblem | undefined> {
  const { path } = storageOf(flags) ?? {};
  if (path === undefined) return undefined;
  const problem = await problemOf(path);
  if (problem === undefined) return undefined;
  if (errorCode(problem) !== "ENOENT")
    return { isUncreatable: false, message: `cannot write into ${path}: ${reasonOf(problem)}` };
  const parent = dirname(path);
  const other = await problemOf(parent);
  if (other === undefined) return undefined;
  const reason = `cannot create ${path}: ${parent}: ${reasonOf(other)}`;
  return { isUncreatable: true, message: `${reason}; ${CREATE_IT}` };
}

function reasonOf(error: unknown): string {
  switch (errorCode(error) ?? "") {
    case "ENOENT":
      return "no such folder";
    case "ENOTDIR":
      return "it is not a folder";
    case "EROFS":
      return "it is read-only";
    default:
      return readFailure(error).message;
  }
}

function problemOf(folder: string): Promise<unknown> {
  return access(`${folder}/.`, USABLE).catch((error: unknown) => error);
}
