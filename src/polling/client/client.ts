import type { BasicAuthConfig } from "../../config/config.ts";
import type { PasswordReader } from "../../config/password-file.ts";
import { Secret } from "../../config/secret.ts";
import type { Clock } from "../clock.ts";
import type { Failure, FailureReason } from "../failure.ts";
import type { Outcome, PresentedCertificate } from "../observation.ts";
import type { Redact } from "../../api/kept-text.ts";
import { basicAuthorization } from "./basic-authorization.ts";
import { classifyDeadline, classifyError, describeError } from "./classify.ts";
import { exchange, type Answer } from "./exchange.ts";
import type { Lane, Request } from "./lane.ts";
import type { Lanes } from "./lanes.ts";
import { createRedact } from "./redact.ts";

/** What an appliance answered. */
export interface Body {
  /** As they came. */
  readonly bytes: Uint8Array;
  /** Replaces the credentials that were sent; every text of the answer passes through it before it is shown or kept. */
  readonly redact: Redact;
}

export interface GetOptions {
  /** A longer body is `too_large`; default: 256 KiB. */
  readonly bodyLimitBytes?: number;
}

/** Asks one appliance over connections that are kept between polls. */
export interface ApplianceClient {
  /**
   * One GET, from password file and name look-up to the last byte within `timeoutMs`; when that strikes, everything the
   * poll holds is destroyed. Never rejects. A connection that the appliance closed while it lay idle is replaced once.
   */
  get(path: string, timeoutMs: number, options?: GetOptions): Promise<Outcome<Body>>;
  /** The certificate presented last, trusted or not. */
  certificate(): PresentedCertificate | undefined;
  /** Whether the credentials differ from those that were refused last; not if that cannot be told within `timeoutMs`. */
  hasNewCredentials(timeoutMs: number): Promise<boolean>;
  /** Ends all connections and every poll under way. */
  close(): void;
}

const BODY_LIMIT_BYTES = 256 * 1024;

export interface ApplianceClientDeps {
  readonly lanes: Lanes;
  /** The path in front of every operation's. */
  readonly pathPrefix: string;
  readonly basicAuth: BasicAuthConfig | undefined;
  readonly readPassword: PasswordReader;
  readonly certificate: () => PresentedCertificate | undefined;
  readonly userAgent: string;
  readonly clock: Clock;
}

export function createApplianceClient(deps: ApplianceClientDeps): ApplianceClient {
  const { lanes, clock } = deps;
  let refused: string | undefined;
  let redacting: { readonly authorization: string; readonly redact: Redact } | undefined;

  function redactOf(credentials: Credentials | undefined): Redact {
    if (credentials === undefined) return (text) => text;
    const { authorization, password } = credentials;
    if (redacting?.authorization !== authorization)
      redacting = { authorization, redact: createRedact(authorization, password) };
    return redacting.redact;
  }

  async function ask(path: string, poll: Poll): Promise<Outcome<Body>> {
    const read = await readCredentials(deps);
    if (!read.ok) return read;
    const { credentials } = read;
    const request = {
      path: deps.pathPrefix + path,
      headers: headers(deps.userAgent, credentials?.authorization),
    };
    poll.isSecretRead = true;
    if (poll.isOver) return failed("timeout", "the deadline passed");
    const answer = await askTwiceAtMost(lanes, request, poll, clock);
    if (!answer.ok && answer.failure.reason === "auth") refused = credentials?.authorization;
    return answer.ok ? { ok: true, value: { bytes: answer.value, redact: redactOf(credentials) } } : answer;
  }

  function get(path: string, timeoutMs: number, options: GetOptions = {}): Promise<Outcome<Body>> {
    return new Promise((resolve) => {
      const { bodyLimitBytes = BODY_LIMIT_BYTES } = options;
      const poll: Poll = { bodyLimitBytes, isOver: false, isSecretRead: false, lane: undefined };
      const timer = setTimeout(() => {
        poll.isOver = true;
        resolve(deadlineFailure(poll, timeoutMs));
        if (poll.lane !== undefined) lanes.discard(poll.lane);
      }, timeoutMs);
      void ask(path, poll)
        .catch((error: unknown) => failed("internal", describeError(error)))
        .then((answer) => {
          clearTimeout(timer);
          return resolve(answer);
        });
    });
  }

  return {
    get,
    certificate: deps.certificate,
    hasNewCredentials: (timeoutMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), timeoutMs);
        void readCredentials(deps).then((read) => {
          clearTimeout(timer);
          return resolve(read.ok && read.credentials?.authorization !== refused);
        });
      }),
    close: () => lanes.close(),
  };
}

/** What one poll holds, so that its deadline can end it wherever it is. */
interface Poll {
  readonly bodyLimitBytes: number;
  isOver: boolean;
  isSecretRead: boolean;
  lane: Lane | undefined;
}

async function askTwiceAtMost(lanes: Lanes, request: Request, poll: Poll, clock: Clock): Promise<Answer> {
  const first = lanes.take();
  if (first === undefined) return CLOSED;
  const connectionsBefore = first.connections();
  const bytesBefore = first.bytesRead();
  const answer = await askOn(first, lanes, request, poll, clock);
  const wasReused = connectionsBefore > 0 && first.connections() === connectionsBefore;
  const isRace = !answer.ok && answer.failure.status === undefined && RACE.has(answer.failure.reason);
  if (!isRace || !wasReused || first.bytesRead() > bytesBefore || poll.isOver) return answer;
  // The appliance closed the idle connection while the request was on its way: nobody has answered it.
  const second = lanes.takeFresh();
  return second === undefined ? CLOSED : askOn(second, lanes, request, poll, clock);
}

const RACE: ReadonlySet<FailureReason> = new Set(["connect", "protocol"] satisfies FailureReason[]);

async function askOn(lane: Lane, lanes: Lanes, request: Request, poll: Poll, clock: Clock): Promise<Answer> {
  poll.lane = lane;
  try {
    const answer = await exchange(lane, request, {
      bodyLimitBytes: poll.bodyLimitBytes,
      wallMs: clock.wallMs(),
    });
    if (answer.ok) lanes.giveBack(lane);
    else lanes.discard(lane);
    return answer;
  } catch (error) {
    lanes.discard(lane);
    return failed(classifyError(error, lane.stage()), describeError(error));
  }
}

interface Credentials {
  /** The header's value. */
  readonly authorization: string;
  readonly password: string;
}

type CredentialsResult =
  | { readonly ok: true; readonly credentials: Credentials | undefined }
  | { readonly ok: false; readonly failure: Failure };

async function readCredentials({ basicAuth, readPassword }: ApplianceClientDeps): Promise<CredentialsResult> {
  if (basicAuth === undefined) return { ok: true, credentials: undefined };
  const read = await readPassword(basicAuth.password);
  if (!read.ok) return failed("secret", `the password file cannot be used: ${read.message}`);
  const password = read.secret.reveal();
  const authorization = basicAuthorization(new Secret(`${basicAuth.username}:${password}`));
  return { ok: true, credentials: { authorization, password } };
}

function headers(userAgent: string, authorization: string | undefined): Record<string, string> {
  const common = { accept: "application/json", "user-agent": userAgent };
  return authorization === undefined ? common : { ...common, authorization };
}

function deadlineFailure(poll: Poll, timeoutMs: number): { ok: false; failure: Failure } {
  if (!poll.isSecretRead)
    return failed("secret", `the password file could not be read within ${timeoutMs} ms`);
  const stage = poll.lane?.stage() ?? "lookup";
  return failed(classifyDeadline(stage), `no complete answer within ${timeoutMs} ms; ${STAGE_TEXT[stage]}`);
}

const STAGE_TEXT = {
  lookup: "the name was still being looked up",
  connect: "the connection was still being made",
  proxy: "the proxy had not answered CONNECT",
  tls: "the TLS handshake was not finished",
  connected: "the appliance was connected",
} as const;

/** Nobody waits for this any more. */
const CLOSED = failed("internal", "the client was closed");

function failed(reason: FailureReason, message: string): { ok: false; failure: Failure } {
  return { ok: false, failure: { reason, message } };
}
