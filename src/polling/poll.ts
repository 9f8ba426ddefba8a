import type { OperationDescriptor, SlotKind } from "../api/operation.ts";
import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceClient, Body, GetOptions } from "../client/client.ts";
import type { Failure, Outcome } from "../client/failure.ts";
import { describeBug } from "../support/errors.ts";
import type { Operation, PollResult } from "./observation.ts";
import type { ShortOf } from "./slots.ts";

export interface PollOptions extends Pick<GetOptions, "connectionWaitMs" | "onStarted" | "onCredentials"> {
  /** Receives the body of an answer with status 200. */
  readonly onBody?: (body: Body) => void;
  /** Awaited before each half of the work for a long answer; default: not. */
  readonly turn?: () => Promise<void>;
}

/** Polls one operation once, within `timeoutMs`. Never rejects. @see management API 4 */
export async function poll(
  client: ApplianceClient,
  operation: Operation,
  timeoutMs: number,
  options: PollOptions = {},
): Promise<PollResult> {
  const outcome = await outcomeOf(client, operation, timeoutMs, options);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- TypeScript cannot relate a kind to the value that its descriptor decodes
  return { ...operation, outcome } as PollResult;
}

const LONG_ANSWER_BYTES = 32 * 1024;

async function outcomeOf(
  client: ApplianceClient,
  operation: Operation,
  timeoutMs: number,
  options: PollOptions,
): Promise<Outcome<unknown>> {
  const descriptor: OperationDescriptor<unknown, never> = OPERATIONS[operation.kind];
  const { path, limitBytes, takesSlot, decode } = descriptor;
  const { onBody, turn, ...sending } = options;
  const precedence = takesSlot === false ? "list" : "test";
  try {
    const where = path("websiteId" in operation ? operation.websiteId : undefined);
    const how = { ...sending, precedence, bodyLimitBytes: limitBytes } as const;
    const answer = await client.get(where, timeoutMs, how);
    if (!answer.ok) return { ok: false, failure: withMeaning(answer.failure, descriptor) };
    const { bytes, redact } = answer.value;
    onBody?.(answer.value);
    const isLong = bytes.length > LONG_ANSWER_BYTES;
    if (isLong) await turn?.();
    const decoded = decode(bytes, redact);
    // Judging what a long answer says costs as much again.
    if (isLong) await turn?.();
    return decoded;
  } catch (error) {
    return { ok: false, failure: { reason: "internal", message: describeBug(error) } };
  }
}

function withMeaning(
  failure: Failure,
  { statuses, scope }: Pick<OperationDescriptor<unknown, never>, "statuses" | "scope">,
): Failure {
  const meaning = failure.status === undefined ? undefined : statuses[failure.status];
  if (meaning === undefined) return failure;
  if (meaning !== "gone") return { ...failure, reason: meaning };
  // Otherwise the status looks like one of the website itself.
  const what = scope === "website" ? "the appliance has no website with this id: " : "";
  return { ...failure, isGone: true, message: `${what}${failure.message}` };
}

const UNSENT = {
  appliance_down: "the appliance is unreachable or unauthorized",
  auth: "the appliance refused the credentials",
  http_status: "the appliance requested a delay (Retry-After)",
  unsupported: "the appliance lacks the list of websites",
} as const;

/** Why a due poll is not sent. `appliance_down`: of a website test. @see meaningOf */
export function unsent(reason: keyof typeof UNSENT): Failure {
  return { reason, message: `not sent: ${UNSENT[reason]}` };
}

/** Why a poll is not sent that waited for a slot until its latest result nearly expired. */
export function unsentForSlot(kind: SlotKind, shortOf: ShortOf, waitedSeconds: number): Failure {
  const message = `not sent: it waited ${Math.round(waitedSeconds)} s for a free slot`;
  // The appliance takes too long for the details of its other websites.
  if (kind === "discovery") return { reason: shortOf === "appliance" ? "timeout" : "local", message };
  const key = { fleet: "", appliance: "_per_appliance" }[shortOf];
  return { reason: "local", message: `${message} (max_concurrent_website_tests${key})` };
}
