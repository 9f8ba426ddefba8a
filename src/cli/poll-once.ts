import pLimit from "p-limit";
import { OPERATIONS } from "../api/operations.ts";
import type { PresentedCertificate } from "../client/certificate.ts";
import { createClients, type ApplianceClient } from "../client/client.ts";
import { meansApplianceDown } from "../client/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { createFleet, type Fleet } from "../fleet/fleet.ts";
import type { Observation, Operation } from "../polling/observation.ts";
import { poll } from "../polling/poll.ts";
import { toSeconds } from "../support/clock.ts";
import type { Io } from "./io.ts";

/** The result of one operation. */
export interface OperationResult {
  readonly observation: Observation;
  /** The response body without the credentials, to display; `undefined` if there was none. */
  readonly body: string | undefined;
}

/** What was polled of an appliance. */
export interface Polled {
  readonly appliance: ApplianceConfig;
  /** The VRRP list first; nothing else if it shows that the appliance is unreachable or unauthorized. */
  readonly results: readonly OperationResult[];
  readonly certificate: PresentedCertificate | undefined;
  /** Knows this appliance alone. */
  readonly fleet: Fleet;
}

const MAX_CONCURRENT = 32;

/** The results of work on each appliance, 32 at a time; shows how many are done. */
export async function perAppliance<T>(
  appliances: readonly ApplianceConfig[],
  { progress }: Pick<Io, "progress">,
  work: (appliance: ApplianceConfig) => Promise<T>,
): Promise<readonly T[]> {
  let done = 0;
  const results = await pLimit(MAX_CONCURRENT).map(appliances, async (appliance) => {
    const result = await work(appliance);
    done += 1;
    progress(`${done} of ${appliances.length} appliances`);
    return result;
  });
  progress("");
  return results;
}

/**
 * Polls each appliance once: its VRRP list, then the list and the details of its websites if they are discovered, then the
 * tests of its websites, all one by one.
 */
export function pollAll(appliances: readonly ApplianceConfig[], io: Io): Promise<readonly Polled[]> {
  const createClient = createClients(io, io.clock);
  return perAppliance(appliances, io, async (appliance) => {
    const client = createClient(appliance);
    const fleet = createFleet();
    fleet.configure({ appliances: [{ ...appliance, enabled: true }] }, 0);
    const results: OperationResult[] = [];
    const run = async (operation: Operation): Promise<Observation["outcome"]> => {
      const result = await runOperation(io, client, appliance, operation);
      fleet.record(result.observation, 0);
      results.push(result);
      return result.observation.outcome;
    };
    const list = await run({ kind: "vrrp" });
    if (list.ok || !meansApplianceDown(list.failure.reason)) {
      if (appliance.discovery !== undefined) await run({ kind: "website_list" });
      for (const websiteId of fleet.plan(appliance.name).details) {
        const details = await run({ kind: "website_details", websiteId });
        // No request for each website after a refusal.
        if (!details.ok && details.failure.reason === "auth") break;
      }
      const { tests } = fleet.plan(appliance.name);
      for (const websiteId of tests) await run({ kind: "website_test", websiteId });
    }
    client.close();
    return { appliance, results, certificate: client.certificate(), fleet };
  });
}

async function runOperation(
  { clock }: Io,
  client: ApplianceClient,
  { name, polling }: ApplianceConfig,
  operation: Operation,
): Promise<OperationResult> {
  let body: string | undefined;
  const startedMs = clock.monotonicMs();
  const { timeoutMs } = polling[OPERATIONS[operation.kind].timing];
  const result = await poll(client, operation, timeoutMs, {
    onBody: ({ bytes, redact }) => (body = redact(Buffer.from(bytes).toString())),
  });
  const observation: Observation = {
    ...result,
    appliance: name,
    completedAtMs: clock.wallMs(),
    sentAtMs: startedMs,
    durationSeconds: toSeconds(clock.monotonicMs() - startedMs),
    expiresAtMs: Number.POSITIVE_INFINITY,
    certificate: client.certificate(),
  };
  return { observation, body };
}
