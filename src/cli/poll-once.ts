import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, WebsiteConfig } from "../config/config.ts";
import type { ApplianceClient } from "../client/client.ts";
import { createClients } from "../client/clients.ts";
import { meansApplianceDown } from "../client/failure.ts";
import { toSeconds } from "../support/clock.ts";
import type { Observation, Operation, PollResult } from "../polling/observation.ts";
import { poll, unsent, UNSENT_DOWN } from "../polling/poll.ts";
import type { Io } from "./io.ts";

/** The result of one operation. */
export interface OperationResult {
  readonly observation: Observation;
  /** The response body without the credentials, to display; `undefined` if there was none. */
  readonly body: string | undefined;
}

/**
 * Polls an appliance's VRRP list, then tests the websites one by one. Sends no tests if the appliance is unreachable or
 * unauthorized. Never rejects.
 */
export type PollOnce = (
  appliance: ApplianceConfig,
  websites: readonly WebsiteConfig[],
) => Promise<readonly OperationResult[]>;

/** Each call opens its own connections and closes them at the end. */
export function createPollOnce(io: Io): PollOnce {
  const createClient = createClients(io, io.clock);

  return async (appliance, websites) => {
    const client = createClient(appliance);
    const run = (work: Work): Promise<OperationResult> => runOperation(io, client, appliance.name, work);
    const pollOperation = (operation: Operation): Promise<OperationResult> => {
      const { timeoutMs } = appliance.polling[OPERATIONS[operation.kind].timing];
      return run((via) => poll(via, operation, timeoutMs));
    };
    const list = await pollOperation({ kind: "vrrp" });
    const { outcome } = list.observation;
    const isDown = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    const results: OperationResult[] = [list];
    for (const { id } of websites) {
      const test = { kind: "website_test", websiteId: id } as const;
      results.push(isDown ? await run(async () => unsent(test, UNSENT_DOWN)) : await pollOperation(test));
    }
    client.close();
    return results;
  };
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
