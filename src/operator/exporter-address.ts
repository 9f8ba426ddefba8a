import { access, constants } from "node:fs/promises";
import { DEFAULT_URL, type Flags, type Io } from "../exporter/command/command.ts";
import { parsePlainUrl } from "../exporter/web/paths.ts";
import { statable } from "../exporter/maintenance/local-user.ts";
import { userAtWork } from "../support/user.ts";
import { errorCode } from "../support/errors.ts";

/** Where a command reaches an exporter. */
export interface ExporterAddress {
  /** The URL of requests. */
  readonly url: URL;
  /** The path of the Unix socket of an exporter of this host, in place of the host and the port of the URL. */
  readonly socketPath?: string;
  /** How messages name it. */
  readonly shown: string;
  /** The socket that would be the default, if this user may not use it. */
  readonly forbidden?: string;
}

/** Returns where a command reaches an exporter, by default over the socket of this host; `undefined` for an invalid URL. */
export async function addressOf(
  { url: given, "http.config.file": file }: Pick<Flags, "url" | "http.config.file">,
  io: Pick<Io, "defaultSocket">,
): Promise<ExporterAddress | undefined> {
  // A URL begins with no slash, so that a path is that of a socket.
  const [, path] = /^(?:unix:(?:\/\/)?|(?=\/))(.+)$/.exec(given ?? "") ?? [];
  if (path !== undefined) return socketAddress(path);
  const mayBeLocal = given === undefined && file === undefined;
  const state = mayBeLocal ? await stateOf(io.defaultSocket) : "absent";
  if (state === "usable") return socketAddress(io.defaultSocket);
  // A URL with credentials is refused, because other users of the machine can read command lines.
  const url = parsePlainUrl(
    given === undefined || given.includes("://") ? (given ?? DEFAULT_URL) : `http://${given}`,
  );
  return url && { url, shown: url.href, ...(state === "forbidden" && { forbidden: io.defaultSocket }) };
}

function socketAddress(socketPath: string): ExporterAddress {
  return { url: new URL("http://localhost"), socketPath, shown: `unix:${socketPath}` };
}

async function stateOf(path: string): Promise<"usable" | "forbidden" | "absent"> {
  try {
    await access(path, constants.W_OK);
    return "usable";
  } catch (error) {
    return errorCode(error) === "EACCES" ? "forbidden" : "absent";
  }
}

/** Returns the name of the user to state over the socket: of whoever uses sudo, or else of this process; empty without a name. */
export function statedUser({ environment }: Pick<Io, "environment">): string {
  return statable(userAtWork(environment("SUDO_USER")) ?? "");
}
