import type { Decoded } from "../api/decoded.ts";
import { VRRP_LIST_PATH, websiteTestPath } from "../api/operations.ts";
import { decodeVrrpList, type VrrpList } from "../api/vrrp.ts";
import { decodeWebsiteTest, type WebsiteTest } from "../api/website-test.ts";
import type { ApplianceConfig, WebsiteConfig } from "../config/config.ts";
import type { ApplianceClient } from "./client/client.ts";
import type { Failure } from "./failure.ts";
import type { Operation, Outcome, PollResult, WebsiteStatus } from "./observation.ts";

/**
 * Polls one operation of an appliance within its timeout; `undefined` for a website that is not configured (any more).
 * Never rejects.
 */
export async function pollOperation(
  client: ApplianceClient,
  appliance: ApplianceConfig,
  operation: Operation,
): Promise<PollResult | undefined> {
  const { vrrp, websites } = appliance.polling;
  if (operation.kind === "vrrp") {
    return { ...operation, outcome: await pollVrrp(client, vrrp.timeoutMs) };
  }
  const website = appliance.websites.find(({ id }) => id === operation.websiteId);
  if (website === undefined) return undefined;
  return { ...operation, outcome: await pollWebsite(client, website, websites.timeoutMs) };
}

/** The result of a poll that failed before anything was sent. */
export function unsent(operation: Operation, failure: Failure): PollResult {
  return { ...operation, outcome: { ok: false, failure } };
}

/** Asks for the VRRP interfaces once, within `timeoutMs`. @see management API 4.1 */
function pollVrrp(client: ApplianceClient, timeoutMs: number): Promise<Outcome<VrrpList>> {
  return poll(client, VRRP_LIST_PATH, timeoutMs, decodeVrrpList);
}

/** Has one website tested, within `timeoutMs`: a status for each protocol exported. @see management API 4.2 */
function pollWebsite(
  client: ApplianceClient,
  website: WebsiteConfig,
  timeoutMs: number,
): Promise<Outcome<readonly WebsiteStatus[]>> {
  const decode = (body: Uint8Array): Decoded<readonly WebsiteStatus[]> => {
    const test = decodeWebsiteTest(body);
    return test.ok ? { ok: true, value: exportedStatuses(test.value, website.protocols) } : test;
  };
  return poll(client, websiteTestPath(website.id), timeoutMs, decode);
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

async function poll<T>(
  client: ApplianceClient,
  path: string,
  timeoutMs: number,
  decode: (body: Uint8Array) => Decoded<T>,
): Promise<Outcome<T>> {
  try {
    const answer = await client.get(path, timeoutMs);
    if (!answer.ok) return answer;
    const decoded = decode(answer.value);
    if (decoded.ok) return decoded;
    const { reason, path: where, message } = decoded.problem;
    return { ok: false, failure: { reason, message: `${where}: ${message}` } };
  } catch (error) {
    const message = error instanceof Error ? (error.stack ?? error.message) : "something that is no error was thrown";
    return { ok: false, failure: { reason: "internal", message } };
  }
}
