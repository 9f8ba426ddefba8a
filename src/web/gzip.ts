import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";

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
