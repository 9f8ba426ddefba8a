import type { BasicAuthConfig } from "../config/config.ts";
import type { PasswordReader } from "../config/password-file.ts";
import type { Attention, Deadline, Overrun } from "./attention.ts";
import type { Clock } from "../support/clock.ts";
import type { Failure, FailureReason } from "./failure.ts";
import type { Outcome } from "./failure.ts";
import type { PresentedCertificate } from "./certificate.ts";
import type { Redact } from "../api/kept-text.ts";
import { classifyDeadline, classifyError, describeError } from "./errors.ts";
import { exchange, type Answer } from "./exchange.ts";
import type { Connection, Request } from "./connection.ts";
import type { ConnectionPool } from "./connection-pool.ts";
import type { Precedence } from "./permits.ts";
import { createRedact, readCredentials, type Credentials } from "./credentials.ts";

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
  /** Whether the credentials differ from those refused last; false if they cannot be read within `timeoutMs`. */
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
  readonly clock: Clock;
}

export function createApplianceClient(deps: ApplianceClientDeps): ApplianceClient {
  const { pool, clock, attention } = deps;
  let refused: string | undefined;
  let latest: { readonly authorization: string | undefined; readonly symbol: symbol } | undefined;
  let redacting: { readonly authorization: string; readonly redact: Redact } | undefined;

  function redactOf(credentials: Credentials | undefined): Redact {
    if (credentials === undefined) return UNCHANGED;
    const { authorization, password } = credentials;
    if (redacting?.authorization !== authorization)
      redacting = { authorization, redact: createRedact(authorization, password) };
    return redacting.redact;
  }

  function symbolOf(authorization: string | undefined): symbol {
    if (latest === undefined || latest.authorization !== authorization)
      latest = { authorization, symbol: Symbol("credentials") };
    return latest.symbol;
  }

  async function send(path: string, poll: Poll, { onCredentials }: GetOptions): Promise<Outcome<Body>> {
    const { connection } = poll;
    const isReused = connection.isConnected();
    const read = await readCredentials(deps.basicAuth, deps.readPassword);
    if (poll.isOver) return OVER;
    if (!read.ok) {
      pool.giveBack(connection);
      return read;
    }
    const { credentials } = read;
    const request = {
      path: deps.pathPrefix + path,
      headers: headers(deps.userAgent, credentials?.authorization),
    };
    poll.isSent = true;
    onCredentials?.(symbolOf(credentials?.authorization));
    const bytesBefore = connection.bytesRead();
    const first = await exchangeOn(poll, pool, request, clock);
    const isLost =
      isReused && isConnectionLost(first) && connection.bytesRead() === bytesBefore && !poll.isOver;
    const answer = isLost ? await retry(request, poll) : first;
    if (!answer.ok && answer.failure.reason === "auth") refused = credentials?.authorization;
    return answer.ok ? { ok: true, value: { bytes: answer.value, redact: redactOf(credentials) } } : answer;
  }

  /** The appliance closed the idle connection before the request reached it. */
  async function retry(request: Request, poll: Poll): Promise<Answer> {
    poll.deadline.pause();
    const connection = await pool.open("replacement");
    if (connection === undefined) return CLOSED;
    poll.connection = connection;
    poll.deadline.run();
    return exchangeOn(poll, pool, request, clock);
  }

  async function get(path: string, timeoutMs: number, options: GetOptions = {}): Promise<Outcome<Body>> {
    const { precedence = "list", bodyLimitBytes = BODY_LIMIT_BYTES, connectionWaitMs, onStarted } = options;
    const connection = pool.takeConnected() ?? (await pool.open(precedence, connectionWaitMs));
    if (connection === undefined) return withoutConnection(connectionWaitMs);
    onStarted?.();
    return new Promise((resolve) => {
      const poll: Poll = {
        bodyLimitBytes,
        isOver: false,
        isSent: false,
        connection,
        deadline: attention.deadline(timeoutMs, (overrun) => {
          poll.isOver = true;
          resolve({ ok: false, failure: deadlineFailure(poll, timeoutMs, overrun) });
          abandon(poll, timeoutMs, overrun);
        }),
      };
      poll.deadline.run();
      void send(path, poll, options)
        .catch((error: unknown) => failed("internal", describeError(error)))
        .then((answer) => {
          poll.deadline.end();
          return resolve(answer);
        });
    });
  }

  /** Ends the connection of a poll whose deadline has passed. */
  function abandon(poll: Poll, timeoutMs: number, { kind }: Overrun): void {
    const { isSent, connection } = poll;
    if (!isSent) return pool.giveBack(connection);
    if (kind === "over") return pool.discard(connection);
    // The delay was local: if the answer still arrives, the connection can be reused.
    poll.deadline = attention.deadline(timeoutMs, () => pool.discard(connection));
    poll.deadline.run();
  }

  return {
    get,
    certificate: deps.certificate,
    hasNewCredentials: (timeoutMs) =>
      new Promise((resolve) => {
        const deadline = attention.deadline(timeoutMs, () => resolve(false));
        deadline.run();
        void readCredentials(deps.basicAuth, deps.readPassword).then((read) => {
          deadline.end();
          return resolve(read.ok && read.credentials?.authorization !== refused);
        });
      }),
    close: () => pool.close(),
  };
}

/** The state of one poll, with which its deadline can end it at any stage. */
interface Poll {
  readonly bodyLimitBytes: number;
  isOver: boolean;
  /** Whether the connection is in use; before that, only the password is read. */
  isSent: boolean;
  connection: Connection;
  deadline: Deadline;
}

const UNCHANGED: Redact = (text) => text;

/** The unused outcome of a poll that has already ended. */
const OVER = failed("timeout", "the deadline passed");

function isConnectionLost(answer: Answer): boolean {
  return !answer.ok && answer.failure.status === undefined && LOST.has(answer.failure.reason);
}

const LOST: ReadonlySet<FailureReason> = new Set(["connect", "protocol"] satisfies FailureReason[]);

async function exchangeOn(poll: Poll, pool: ConnectionPool, request: Request, clock: Clock): Promise<Answer> {
  const { connection, bodyLimitBytes } = poll;
  try {
    const answer = await exchange(connection, request, { bodyLimitBytes, wallMs: clock.wallMs() });
    if (answer.ok) pool.giveBack(connection);
    else pool.discard(connection);
    return answer;
  } catch (error) {
    pool.discard(connection);
    return failed(classifyError(error, connection.stage()), describeError(error));
  }
}

function headers(userAgent: string, authorization: string | undefined): Record<string, string> {
  const common = { accept: "application/json", "user-agent": userAgent };
  return authorization === undefined ? common : { ...common, authorization };
}

function deadlineFailure(
  { isSent, connection }: Poll,
  timeoutMs: number,
  { kind, stalledMs }: Overrun,
): Failure {
  const stage = connection.stage();
  if (kind === "late") {
    const late = `the event loop of this process was late by ${Math.round(stalledMs)} ms`;
    return { reason: "local", message: `no complete answer was read: ${late}` };
  }
  if (!isSent)
    return { reason: "secret", message: `the password file could not be read within ${timeoutMs} ms` };
  const message = `no complete answer within ${timeoutMs} ms; ${STAGE_TEXT[stage]}`;
  return { reason: classifyDeadline(stage), message };
}

const STAGE_TEXT = {
  lookup: "the name was still being looked up",
  connect: "the connection was still being made",
  proxy: "the proxy had not answered CONNECT",
  tls: "the TLS handshake was not finished",
  connected: "the appliance was connected",
} as const;

/** The wait for a connection has ended, or the client was closed and the result is unused. */
function withoutConnection(waitedMs = 0): Failed {
  const waited = `it waited ${Math.round(waitedMs / 1000)} s for a connection`;
  return failed("local", `not sent: ${waited} (the limit of open files bounds how many there are)`);
}

/** An unused result. */
const CLOSED = failed("internal", "the client was closed");

interface Failed {
  readonly ok: false;
  readonly failure: Failure;
}

function failed(reason: FailureReason, message: string): Failed {
  return { ok: false, failure: { reason, message } };
}
