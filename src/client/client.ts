import type { BasicAuthConfig } from "../config/config.ts";
import type { PasswordReader } from "../config/password-file.ts";
import type { Redact } from "../api/kept-text.ts";
import { describeBug } from "../support/errors.ts";
import type { Attention, Overrun } from "./attention.ts";
import type { PresentedCertificate } from "./certificate.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { Connection } from "./connection.ts";
import { createRedact, readCredentials, type Credentials } from "./credentials.ts";
import { DEADLINE_FAILURES } from "./errors.ts";
import type { Failure, FailureReason, Outcome } from "./failure.ts";
import type { Precedence } from "./permits.ts";

/** An appliance's answer. */
export interface Body {
  /** As received. */
  readonly bytes: Uint8Array;
  /** Replaces the credentials that were sent; every text of the answer must pass through it before use. */
  readonly redact: Redact;
}

/** Queries one appliance over a pool of connections. */
export interface ApplianceClient {
  /**
   * One GET, from reading the password file to the last byte, within `timeoutMs`. The wait for a connection, up to
   * `connectionWaitMs`, does not count, nor does a stall of this process. @see Attention, Permits
   * At the deadline the connection is closed. Never rejects. Retries once if the appliance had closed the idle connection.
   */
  get(path: string, timeoutMs: number, options?: GetOptions): Promise<Outcome<Body>>;
  /** The certificate presented last, trusted or not. */
  certificate(): PresentedCertificate | undefined;
  /** Whether the credentials differ from those refused last; false if they cannot be read, or not within `timeoutMs`. */
  hasNewCredentials(timeoutMs: number): Promise<boolean>;
  /** Ends all connections and all polls in flight. */
  close(): void;
}

export interface GetOptions {
  /** Its place among polls that wait for a connection; default: `list`. */
  readonly precedence?: Precedence;
  /** After this wait for a connection the poll fails as `local`; default: no limit. */
  readonly connectionWaitMs?: number | undefined;
  /** A longer body is `too_large`; default: 256 KiB. */
  readonly bodyLimitBytes?: number;
  /** Called once, when `timeoutMs` begins to count; never if the client is closed before. */
  readonly onStarted?: (() => void) | undefined;
  /** Called before the request is sent, with a symbol for its credentials: equal symbols mean equal credentials. */
  readonly onCredentials?: ((credentials: symbol) => void) | undefined;
}

const BODY_LIMIT_BYTES = 256 * 1024;

export interface ApplianceClientDeps {
  readonly attention: Attention;
  readonly pool: ConnectionPool;
  /** Prefix of every operation's path. */
  readonly pathPrefix: string;
  readonly basicAuth: BasicAuthConfig | undefined;
  readonly readPassword: PasswordReader;
  readonly certificate: () => PresentedCertificate | undefined;
  readonly userAgent: string;
}

/** What is made of one password. */
interface Sending {
  readonly authorization: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly redact: Redact;
  readonly symbol: symbol;
}

/** One use of a connection, and how much of the timeout it has left. */
interface Attempt {
  readonly outcome: Outcome<Body>;
  readonly leftMs: number;
}

export function createApplianceClient(deps: ApplianceClientDeps): ApplianceClient {
  const { pool, attention, basicAuth } = deps;
  let refused: string | undefined;
  let latest: Sending | undefined;

  function sendingWith(credentials: Credentials | undefined): Sending {
    if (latest === undefined || latest.authorization !== credentials?.authorization)
      latest = sendingOf(credentials, deps.userAgent);
    return latest;
  }

  /** Gives the connection back, or ends it if it cannot be used again. */
  function attempt(
    connection: Connection,
    path: string,
    timeoutMs: number,
    options: GetOptions,
  ): Promise<Attempt> {
    const { bodyLimitBytes = BODY_LIMIT_BYTES, onCredentials } = options;
    return new Promise((resolve) => {
      let isOver = false;
      /** Before that, only the password is read. */
      let isSent = false;
      let end = attention.deadline(timeoutMs, (overrun) => {
        isOver = true;
        const failure = deadlineFailure(isSent ? connection : undefined, timeoutMs, overrun);
        resolve({ outcome: { ok: false, failure }, leftMs: 0 });
        if (!isSent) pool.giveBack(connection);
        else if (overrun.kind === "over") pool.discard(connection);
        // The delay was local: if the answer still arrives, the connection can be used again.
        else end = attention.deadline(timeoutMs, () => pool.discard(connection));
      });

      async function send(): Promise<Outcome<Body>> {
        const read = await readCredentials(basicAuth, deps.readPassword);
        if (isOver) return CLOSED;
        if (!read.ok) {
          pool.giveBack(connection);
          return read;
        }
        const { authorization, headers, redact, symbol } = sendingWith(read.value);
        isSent = true;
        onCredentials?.(symbol);
        const answer = await connection.send({ path: deps.pathPrefix + path, headers, bodyLimitBytes });
        if (!answer.ok) {
          pool.discard(connection);
          if (answer.failure.reason === "auth") refused = authorization;
          return answer;
        }
        pool.giveBack(connection);
        return { ok: true, value: { bytes: answer.value, redact } };
      }
      void send()
        .catch((error: unknown) => failed("internal", describeBug(error)))
        .then((outcome) => resolve({ outcome, leftMs: end() }));
    });
  }

  async function get(path: string, timeoutMs: number, options: GetOptions = {}): Promise<Outcome<Body>> {
    const { precedence = "list", connectionWaitMs, onStarted } = options;
    const connection = pool.takeConnected() ?? (await pool.open(precedence, connectionWaitMs));
    if (connection === undefined) return withoutConnection(connectionWaitMs);
    onStarted?.();
    const isReused = connection.isConnected();
    const bytesBefore = connection.bytesRead();
    const { outcome, leftMs } = await attempt(connection, path, timeoutMs, options);
    // The appliance may have closed the idle connection before the request reached it.
    if (!isReused || !isConnectionLost(outcome) || connection.bytesRead() !== bytesBefore) return outcome;
    const replacement = await pool.open("replacement");
    return replacement === undefined ? CLOSED : (await attempt(replacement, path, leftMs, options)).outcome;
  }

  return {
    get,
    certificate: deps.certificate,
    hasNewCredentials: (timeoutMs) =>
      new Promise((resolve) => {
        const end = attention.deadline(timeoutMs, () => resolve(false));
        void readCredentials(basicAuth, deps.readPassword).then((read) => {
          end();
          return resolve(read.ok && read.value?.authorization !== refused);
        });
      }),
    close: () => pool.close(),
  };
}

function sendingOf(credentials: Credentials | undefined, userAgent: string): Sending {
  const common = { accept: "application/json", "user-agent": userAgent };
  const symbol = Symbol("credentials");
  if (credentials === undefined)
    return { authorization: undefined, headers: common, redact: (text) => text, symbol };
  const { authorization, password } = credentials;
  const headers = { ...common, authorization };
  return { authorization, headers, redact: createRedact(authorization, password), symbol };
}

function isConnectionLost(outcome: Outcome<Body>): boolean {
  return !outcome.ok && outcome.failure.status === undefined && LOST.has(outcome.failure.reason);
}

const LOST: ReadonlySet<FailureReason> = new Set(["connect", "protocol"] satisfies FailureReason[]);

/** `connection`: `undefined` if nothing was sent yet. */
function deadlineFailure(
  connection: Connection | undefined,
  timeoutMs: number,
  { kind, stalledMs }: Overrun,
): Failure {
  if (kind === "late") {
    const late = `the event loop of this process was late by ${Math.round(stalledMs)} ms`;
    return { reason: "local", message: `no complete answer was read: ${late}` };
  }
  if (connection === undefined)
    return { reason: "secret", message: `the password file could not be read within ${timeoutMs} ms` };
  const { reason, message } = DEADLINE_FAILURES[connection.stage()];
  return { reason, message: `no complete answer within ${timeoutMs} ms; ${message}` };
}

/** The wait for a connection has ended, or the client was closed and the result is unused. */
function withoutConnection(waitedMs = 0): Outcome<never> {
  const waited = `it waited ${Math.round(waitedMs / 1000)} s for a connection`;
  return failed("local", `not sent: ${waited} (the limit of open files bounds how many there are)`);
}

/** An unused result. */
const CLOSED = failed("internal", "the client was closed");

function failed(reason: FailureReason, message: string): Outcome<never> {
  return { ok: false, failure: { reason, message } };
}
