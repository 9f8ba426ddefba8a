import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { IncomingMessage } from "node:http";
import type { Reply } from "./reply.ts";

const gzipBytes = promisify(gzip);

/** Quickly rather than well. */
export function compress(bytes: Buffer | string): Promise<Buffer> {
  return gzipBytes(bytes, { level: constants.Z_BEST_SPEED });
}

/** Whether an Accept-Encoding header takes gzip; `*` stands for it where it is not named. @see RFC 9110, 12.5.3 */
export function acceptsGzip(header: string | undefined): boolean {
  const codings = (header ?? "").split(",").map((coding) => coding.trim().toLowerCase());
  const named =
    codings.find((coding) => /^(x-)?gzip\b/.test(coding)) ?? codings.find((coding) => coding.startsWith("*"));
  return named !== undefined && /^[^;]+(;\s*q=(1(\.0*)?|0\.0*[1-9]\d*))?$/.test(named.replaceAll(" ", ""));
}

/** The reply with its body compressed, for who takes gzip. */
export async function compressed({ headers }: IncomingMessage, reply: Reply): Promise<Reply> {
  const varying = { ...reply, headers: { ...reply.headers, vary: "accept-encoding" } };
  if (!acceptsGzip(headers["accept-encoding"])) return varying;
  return {
    ...varying,
    body: await compress(reply.body),
    headers: { ...varying.headers, "content-encoding": "gzip" },
  };
}
