import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { createClients, type ApplianceClient } from "../client/client.ts";
import { meansApplianceDown } from "../client/failure.ts";
import { createFleet } from "../fleet/fleet.ts";
import { toSeconds } from "../support/clock.ts";
import type { Observation, Operation, PollResult } from "../polling/observation.ts";
import { poll, UNSENT, unsent } from "../polling/poll.ts";
import type { Io } from "./io.ts";

/** The result of one operation. */
export interface OperationResult {
  readonly observation: Observation;
  /** The response body without the credentials, to display; `undefined` if there was none. */
  readonly body: string | undefined;
}

/**
 * Polls an appliance's VRRP list, then the list and the details of its websites if they are discovered, then tests the
 * websites, all one by one. Sends nothing more if the appliance is unreachable or unauthorized. Never rejects.
 */
export type PollOnce = (appliance: ApplianceConfig) => Promise<readonly OperationResult[]>;

/** Each call opens its own connections and closes them at the end. */
export function createPollOnce(io: Io): PollOnce {
  const createClient = createClients(io, io.clock);

  return async (appliance) => {
    const client = createClient(appliance);
    const run = (work: Work): Promise<OperationResult> => runOperation(io, client, appliance.name, work);
    const pollOperation = (operation: Operation): Promise<OperationResult> => {
      const { timeoutMs } = appliance.polling[OPERATIONS[operation.kind].timing];
      return run((via) => poll(via, operation, timeoutMs));
    };
    const list = await pollOperation({ kind: "vrrp" });
    const { outcome } = list.observation;
    const isDown = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    const fleet = createFleet();
    fleet.configure({ appliances: [{ ...appliance, enabled: true }] }, 0);
    const results: OperationResult[] = [list];
    const add = async (operation: Operation): Promise<void> => {
      const result = isDown
        ? await run(async () => unsent(operation, UNSENT.appliance_down))
        : await pollOperation(operation);
      fleet.record(result.observation, 0);
      results.push(result);
    };
    if (appliance.discovery !== undefined) await add({ kind: "website_list" });
    for (const websiteId of fleet.plan(appliance.name).details) {
      await add({ kind: "website_details", websiteId });
      // No request for each website after a refusal.
      if (isRefused(results.at(-1))) break;
    }
    const { tests } = fleet.plan(appliance.name);
    for (const websiteId of tests) await add({ kind: "website_test", websiteId });
    client.close();
    return results;
  };
}

function isRefused(result: OperationResult | undefined): boolean {
  const outcome = result?.observation.outcome;
  return outcome?.ok === false && outcome.failure.reason === "auth";
}

type Work = (client: ApplianceClient) => Promise<PollResult>;

async function runOperation(
  { clock }: Io,
  client: ApplianceClient,
  appliance: string,
  work: Work,
): Promise<OperationResult> {
  let body: string | undefined;
  const recording: ApplianceClient = {
    ...client,
    get: async (...request) => {
      const response = await client.get(...request);
      if (response.ok) body = response.value.redact(Buffer.from(response.value.bytes).toString());
      return response;
    },
  };
  const startedMs = clock.monotonicMs();
  const result = await work(recording);
  const observation: Observation = {
    ...result,
    appliance,
    completedAtMs: clock.wallMs(),
    sentAtMs: startedMs,
    durationSeconds: toSeconds(clock.monotonicMs() - startedMs),
    expiresAtMs: Number.POSITIVE_INFINITY,
    certificate: client.certificate(),
  };
  return { observation, body };
}
