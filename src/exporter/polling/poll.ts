import { apiOf, kindNamed, type KindName } from "../api/kinds.ts";
import type { AnyApiOperation, Operation } from "../api/operation.ts";
import { interfaceAt, type VrrpList } from "../api/vrrp.ts";
import type { ApplianceClient, Body, GetOptions } from "../client/client.ts";
import type { Failure, FailureReason, Outcome } from "../api/failure.ts";
import { describeBug } from "../../support/errors.ts";
import type { BackoffPeriod } from "./backoff.ts";
import type { Observation } from "./observation.ts";
import { POLL_RULES, type LimitName } from "./rules.ts";

export interface PollOptions extends Pick<
  GetOptions,
  "connectionWaitMs" | "onStarted" | "onCredentials" | "onAnswer"
> {
  /** Whether the cluster has no other appliance, whose answers could be taken for its own; default: yes. */
  readonly isAlone?: boolean;
  /** Awaited before each half of the work for a long answer; default: not. */
  readonly turn?: () => Promise<void>;
}

/** Polls one operation of an appliance of this kind once, within `timeoutMs`. Never rejects. */
export async function poll(
  client: Pick<ApplianceClient, "get">,
  kind: KindName,
  operation: Operation,
  timeoutMs: number,
  options: PollOptions = {},
): Promise<Observation<unknown>> {
  const { outcome, peerAddress } = await answerOf(client, kind, operation, timeoutMs, options);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript cannot relate a kind to the value that is decoded for it
  const result = { outcome, ...operation } as Observation<unknown>;
  const isShared = options.isAlone === false && result.kind === "vrrp";
  return isShared ? { kind: result.kind, outcome: ownList(result.outcome, peerAddress) } : result;
}

/**
 * Returns a list as a failure if it came from an address that it has as a VIP or alias: whichever appliance is MASTER there answers, so it
 * says nothing about the configured one. Only the list itself decides, so that no appliance can have the answers of another one disregarded.
 */
function ownList(outcome: Outcome<VrrpList>, peerAddress: string | undefined): Outcome<VrrpList> {
  const found = outcome.ok && peerAddress !== undefined ? interfaceAt(outcome.value, peerAddress) : undefined;
  if (found === undefined) return outcome;
  const message = `the answer comes from ${peerAddress}, which is a VIP or alias in it (${found.name}): use the appliance's own address in base_url`;
  return { ok: false, failure: { reason: "vip", message } };
}

const LONG_ANSWER_BYTES = 32 * 1024;

async function answerOf(
  client: Pick<ApplianceClient, "get">,
  kind: KindName,
  operation: Operation,
  timeoutMs: number,
  options: PollOptions,
): Promise<Pick<Body, "peerAddress"> & { readonly outcome: Outcome<unknown> }> {
  const api = apiOf(kind, operation.kind);
  if (api === undefined) return { outcome: { ok: false, failure: unsent("unsupported") } };
  const { path, limitBytes, decode } = api;
  const { turn, isAlone: _, ...sending } = options;
  const precedence = POLL_RULES[operation.kind].limits.length === 0 ? "list" : "test";
  try {
    const where = path("websiteId" in operation ? operation.websiteId : undefined);
    const how = { precedence, bodyLimitBytes: limitBytes, ...sending } as const;
    const answer = await client.get(where, timeoutMs, how);
    if (!answer.ok) {
      const { permission } = kindNamed(kind);
      return { outcome: { ok: false, failure: withMeaning(answer.failure, operation, api, permission) } };
    }
    const { bytes, redact, peerAddress } = answer.value;
    const isLong = bytes.length > LONG_ANSWER_BYTES;
    if (isLong) await turn?.();
    const outcome = decode(bytes, redact);
    // Judging what a long answer says costs as much again.
    if (isLong) await turn?.();
    return { outcome, peerAddress };
  } catch (error) {
    return { outcome: { ok: false, failure: { reason: "internal", message: describeBug(error) } } };
  }
}

function withMeaning(
  failure: Failure,
  operation: Operation,
  { statuses }: Pick<AnyApiOperation, "statuses">,
  permission: string | undefined,
): Failure {
  if (failure.reason === "auth" && permission !== undefined) return { ...failure, permission };
  const meaning = failure.status === undefined ? undefined : statuses[failure.status];
  if (meaning === undefined) return failure;
  if (meaning !== "gone") return { ...failure, reason: meaning };
  // Otherwise the status looks like one of the website itself.
  const what = "websiteId" in operation ? "the appliance has no website with this id: " : "";
  return { ...failure, isGone: true, message: `${what}${failure.message}` };
}

const WAITED = "it waited # s for a free slot";

/** The reason of the failure, and its message. */
const UNSENT = {
  appliance_down: ["appliance_down", "the appliance is unreachable or unauthorized"],
  auth: ["auth", "the appliance refused the credentials"],
  http_status: ["http_status", "the appliance requested a delay (Retry-After)"],
  unsupported: ["unsupported", "the appliance lacks the operation"],
  website_tests: ["local", `${WAITED} (max_concurrent_website_tests)`],
  appliance_website_tests: ["local", `${WAITED} (max_concurrent_website_tests_per_appliance)`],
  discovery: ["local", WAITED],
  // The appliance takes too long for the details of its other websites.
  appliance_details: ["timeout", WAITED],
} as const satisfies Readonly<
  Record<LimitName | BackoffPeriod["reason"] | "appliance_down", readonly [FailureReason, string]>
>;

/** The cause of a due poll that is not sent: the appliance, or the limit whose slot the poll waited for. */
export type UnsentReason = keyof typeof UNSENT;

export function unsent(why: UnsentReason, waitedSeconds = 0): Failure {
  const [reason, text] = UNSENT[why];
  return { reason, message: `not sent: ${text.replace("#", String(Math.round(waitedSeconds)))}` };
}
