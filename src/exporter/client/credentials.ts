import pLimit from "p-limit";
import type { Redact } from "../api/text.ts";
import type { BasicAuthConfig, PasswordSource } from "../config/config.ts";
import { readPasswordFile, type ReadFailure } from "../config/read-file.ts";
import type { Clock } from "../../support/clock.ts";
import { once } from "../../support/kept.ts";
import { Secret } from "../../support/secret.ts";
import type { Outcome } from "../api/failure.ts";

type PasswordResult = { readonly ok: true; readonly secret: Secret } | ReadFailure;

export type PasswordReader = (source: PasswordSource) => Promise<PasswordResult>;

/** The shortest time between two reads of a file, since a read for each poll would cost a large part of the poll. */
const READ_EVERY_MS = 100;

/**
 * Returns a source's current password: the same object while the password is the same. A file is read at most ten times a second; a failure
 * is not remembered. Simultaneous calls for one file share the work.
 *
 * `maxReads` limits simultaneous reads, so that a hanging file system does not block every thread of the process.
 */
export function createPasswordReader(maxReads: number, clock: Pick<Clock, "monotonicMs">): PasswordReader {
  const limit = pLimit(maxReads);
  const latest = new Map<string, { readonly result: Promise<PasswordResult>; readonly untilMs: number }>();
  const secrets = new Map<string, Secret>();

  function read(path: string): Promise<PasswordResult> {
    const result = limit(async (): Promise<PasswordResult> => {
      const readMs = clock.monotonicMs();
      const file = await readPasswordFile(path).finally(() => latest.delete(path));
      if (!file.ok) return file;
      latest.set(path, { result, untilMs: readMs + READ_EVERY_MS });
      const before = secrets.get(path);
      const secret = before?.reveal() === file.text ? before : new Secret(file.text);
      secrets.set(path, secret);
      return { ok: true, secret };
    });
    latest.set(path, { result, untilMs: Infinity });
    return result;
  }

  return async (source) => {
    if (source.kind === "inline") return { ok: true, secret: source.secret };
    const known = latest.get(source.path);
    return known !== undefined && clock.monotonicMs() < known.untilMs ? known.result : read(source.path);
  };
}

/** The headers of requests with one password. */
export interface Credentials {
  /** The id; equal credentials have equal ids. */
  readonly id: symbol;
  readonly headers: Readonly<Record<string, string>>;
  readonly redact: Redact;
}

export type CredentialsReader = () => Promise<Outcome<Credentials>>;

/**
 * Returns a function that makes readers of the credentials for each request. Appliances with the same user and password file share the
 * credentials, since the pattern that redacts them takes kilobytes. `headers` are the headers of every request.
 */
export function createCredentials(
  readPassword: PasswordReader,
  headers: Readonly<Record<string, string>>,
): (basicAuth: BasicAuthConfig | undefined) => CredentialsReader {
  const none = { id: Symbol("no credentials"), headers, redact: (text: string) => text };
  const byUser = once((_password: Secret) => new Map<string, Credentials>());

  function credentialsOf(username: string, secret: Secret): Credentials {
    const known = byUser(secret).get(username);
    if (known !== undefined) return known;
    const password = secret.reveal();
    const authorization = basicAuthorization(new Secret(`${username}:${password}`));
    const redact = createRedact(authorization, password);
    const made = { id: Symbol("credentials"), headers: { ...headers, authorization }, redact };
    byUser(secret).set(username, made);
    return made;
  }

  return (basicAuth) => {
    if (basicAuth === undefined) return () => Promise.resolve({ ok: true, value: none });
    const { username, password: source } = basicAuth;
    return async () => {
      const read = await readPassword(source);
      if (read.ok) return { ok: true, value: credentialsOf(username, read.secret) };
      const reason = read.isSystemError ? "local" : "secret";
      const path = source.kind === "file" ? ` ${JSON.stringify(source.path)}` : "";
      const message = `cannot use the password file${path}: ${read.message}`;
      return { ok: false, failure: { reason, message } };
    };
  };
}

/** Returns the value of an Authorization header for `user:password`. @see RFC 7617, 2 */
export function basicAuthorization(credentials: Secret): string {
  return `Basic ${Buffer.from(credentials.reveal()).toString("base64")}`;
}

/** Shorter passwords can occur in any answer by chance (`MASTER`); redacting them would corrupt data. */
const MIN_PASSWORD_LENGTH = 8;

/**
 * Returns a function that replaces the credentials of a request with `<secret>`: the header's token, and a password of at
 * least eight characters, plain, percent-encoded or in base64 (base64url too). Also matches characters that are escaped in JSON.
 */
export function createRedact(authorization: string, password: string): Redact {
  const known = password.length < MIN_PASSWORD_LENGTH ? [] : [password];
  const tokens = [authorization.replace(/^Basic /, ""), ...known.map(base64)].map(unpadded);
  const urlTokens = tokens.map((token) => token.replaceAll("+", "-").replaceAll("/", "_"));
  const urlForms = known.map((text) => encodeURIComponent(Buffer.from(text).toString()));
  const forms = [
    ...[...tokens, ...urlTokens].map((token) => `${patternOf(token)}={0,2}`),
    ...[...known, ...urlForms].map(patternOf),
  ];
  const pattern = new RegExp(forms.join("|"), "g");
  const minLength = Math.min(...[...tokens, ...known].map(({ length }) => length));
  return (text) => (text.length < minLength ? text : text.replace(pattern, "<secret>"));
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function unpadded(token: string): string {
  return token.replace(/=+$/, "");
}

/** Matches the text as it is, and with characters escaped in JSON: `\/`, `\u002f`, `\u002F`. @see RFC 8259, 7 */
function patternOf(secret: string): string {
  return Array.from({ length: secret.length }, (_, at) => {
    const backslash = '"\\/'.includes(secret.charAt(at)) ? "\\\\?" : "";
    const digits = secret.charCodeAt(at).toString(16).padStart(4, "0");
    const anyCase = digits.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
    return `(?:${backslash}\\u${digits}|\\\\u${anyCase})`;
  }).join("");
}
