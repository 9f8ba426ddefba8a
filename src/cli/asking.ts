import { OPERATIONS } from "../api/operations.ts";
import type { ApplianceConfig, WebsiteConfig } from "../config/config.ts";
import type { ApplianceClient } from "../client/client.ts";
import { createClients } from "../client/clients.ts";
import { meansApplianceDown } from "../client/failure.ts";
import { toSeconds } from "../support/clock.ts";
import type { Observation, Operation, PollResult } from "../polling/observation.ts";
import { poll, unsent, UNSENT_DOWN } from "../polling/poll.ts";
import type { Io } from "./io.ts";

/** What one operation of an appliance yielded, asked by hand. */
export interface Asked {
  readonly observation: Observation;
  /** The body as it came, less the credentials, for people; `undefined` where there was none. */
  readonly body: string | undefined;
}

/**
 * Asks an appliance for its VRRP list and then for tests of these websites, one by one; no test is sent to an appliance
 * that can be neither reached nor entered. Never rejects.
 */
export type Ask = (
  appliance: ApplianceConfig,
  websites: readonly WebsiteConfig[],
) => Promise<readonly Asked[]>;

/** For commands that ask and end: connections end with the last answer. */
export function createAsk(io: Io): Ask {
  const createClient = createClients(io, io.clock);

  return async (appliance, websites) => {
    const client = createClient(appliance);
    const ask = (question: Question): Promise<Asked> => askOne(io, client, appliance.name, question);
    const pollOne = (operation: Operation): Promise<Asked> => {
      const { timeoutMs } = appliance.polling[OPERATIONS[operation.kind].timing];
      return ask((over) => poll(over, operation, timeoutMs));
    };
    const list = await pollOne({ kind: "vrrp" });
    const { outcome } = list.observation;
    const isDown = !outcome.ok && meansApplianceDown(outcome.failure.reason);
    const asked: Asked[] = [list];
    for (const { id } of websites) {
      const test = { kind: "website_test", websiteId: id } as const;
      asked.push(isDown ? await ask(async () => unsent(test, UNSENT_DOWN)) : await pollOne(test));
    }
    client.close();
    return asked;
  };
}

type Question = (client: ApplianceClient) => Promise<PollResult>;

async function askOne(
  { clock }: Io,
  client: ApplianceClient,
  appliance: string,
  question: Question,
): Promise<Asked> {
  let body: string | undefined;
  const overheard: ApplianceClient = {
    ...client,
    get: async (...request) => {
      const answer = await client.get(...request);
      if (answer.ok) body = answer.value.redact(Buffer.from(answer.value.bytes).toString());
      return answer;
    },
  };
  const startedMs = clock.monotonicMs();
  const result = await question(overheard);
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
