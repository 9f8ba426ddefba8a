/** The user name and password that a client sent. */
export interface Credentials {
  readonly user: string;
  /** Raw bytes, as bcrypt hashes bytes. */
  readonly password: Buffer;
}

/** The credentials of an Authorization header; `undefined` for another scheme or an invalid value. @see RFC 7617, 2 */
export function readBasicCredentials(header: string | undefined): Credentials | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? "") ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  const colon = bytes.indexOf(":");
  if (colon < 0) return undefined;
  return { user: bytes.toString("utf8", 0, colon), password: bytes.subarray(colon + 1) };
}
