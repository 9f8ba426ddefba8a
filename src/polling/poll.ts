import { setImmediate as nextTurn } from "node:timers/promises";
import type { Decoded } from "../api/decoded.ts";
import type { Redact } from "../api/kept-text.ts";
import { VRRP_LIST, WEBSITE_TEST } from "../api/operations.ts";
import { decodeVrrpList } from "../api/vrrp.ts";
import { decodeWebsiteTest, type WebsiteTest } from "../api/website-test.ts";
import type { WebsiteConfig } from "../config/config.ts";
import type { ApplianceClient, GetOptions } from "../client/client.ts";
import { type Failure } from "../client/failure.ts";
import { describeBug } from "../support/describe-bug.ts";
import type { Operation, PollResult, WebsiteStatus } from "./observation.ts";
import type { Outcome } from "../client/failure.ts";
import type { ShortOf } from "./slots.ts";

export type PollOptions = Pick<GetOptions, "connectionWaitMs" | "onStarted" | "onCredentials">;

/** Polls the VRRP interfaces once, within `timeoutMs`. Never rejects. @see management API 4.1 */
export async function pollVrrp(
  client: ApplianceClient,
  timeoutMs: number,
  options?: PollOptions,
): Promise<PollResult> {
  const { path, limits } = VRRP_LIST;
  const given = { ...options, precedence: "list", bodyLimitBytes: limits.bytes } as const;
  return { kind: "vrrp", outcome: await ask(() => client.get(path, timeoutMs, given), decodeVrrpList) };
}

/** Has one website tested, within `timeoutMs`: a status for each protocol exported. Never rejects. @see management API 4.2 */
export async function pollWebsite(
  client: ApplianceClient,
  { id, protocols }: WebsiteConfig,
  timeoutMs: number,
  options?: PollOptions,
): Promise<PollResult> {
  const decode = (body: Uint8Array): Decoded<readonly WebsiteStatus[]> => {
    const test = decodeWebsiteTest(body);
    return test.ok ? { ok: true, value: exportedStatuses(test.value, protocols) } : test;
  };
  const given = { ...options, precedence: "test", bodyLimitBytes: WEBSITE_TEST.limits.bytes } as const;
  const get = () => client.get(WEBSITE_TEST.path(id), timeoutMs, given);
  return { kind: "website_test", websiteId: id, outcome: await ask(get, decode) };
}

/** Why no website test is sent to an appliance whose VRRP poll failed so. @see meansApplianceDown */
export const UNSENT_DOWN: Failure = {
  reason: "appliance_down",
  message: "not sent: the VRRP poll cannot reach or enter the appliance",
};

/** Why nothing is sent while a Retry-After holds. */
export const UNSENT_DEFERRED: Failure = {
  reason: "http_status",
  message: "not sent: the appliance asked for a pause",
};

/** Why nothing is sent to an appliance that refused the credentials a while ago. */
export const UNSENT_AUTH: Failure = {
  reason: "auth",
  message: "not sent: the appliance refused the credentials",
};

/** Why a website test is not sent that waited for a slot until its latest result would have become stale. */
export function unsentForSlot(shortOf: ShortOf, waitedSeconds: number): Failure {
  const key = { fleet: "", appliance: "_per_appliance" }[shortOf];
  const waited = `it waited ${Math.round(waitedSeconds)} s for a free slot`;
  return { reason: "local", message: `not sent: ${waited} (max_concurrent_website_tests${key})` };
}

/** The result of a poll that failed before anything was sent. */
export function unsent(operation: Operation, failure: Failure): PollResult {
  return { ...operation, outcome: { ok: false, failure } };
}

/**
 * The statuses a test yields: those of the configured protocols, 0 where the test has no block for one; or of all that
 * were found. A status that is out of range yields none.
 */
export function exportedStatuses(
  { blocks }: WebsiteTest,
  configured: WebsiteConfig["protocols"],
): readonly WebsiteStatus[] {
  const protocols = configured ?? blocks.map((block) => block.protocol);
  return protocols.flatMap((protocol) => {
    const block = blocks.find((candidate) => candidate.protocol === protocol);
    const status = block === undefined ? 0 : block.status;
    return status === undefined ? [] : [{ protocol, status }];
  });
}

const LONG_ANSWER_BYTES = 32 * 1024;

async function ask<T>(
  get: () => ReturnType<ApplianceClient["get"]>,
  decode: (body: Uint8Array, redact: Redact) => Decoded<T>,
): Promise<Outcome<T>> {
  try {
    const answer = await get();
    if (!answer.ok) return answer;
    const { bytes, redact } = answer.value;
    const decoded = decode(bytes, redact);
    // What a long answer is turned into costs as much once more: others have their turn between.
    if (bytes.length > LONG_ANSWER_BYTES) await nextTurn();
    if (decoded.ok) return decoded;
    const { reason, path: where, message } = decoded.problem;
    return { ok: false, failure: { reason, message: `${where}: ${message}` } };
  } catch (error) {
    return { ok: false, failure: { reason: "internal", message: describeBug(error) } };
  }
}
