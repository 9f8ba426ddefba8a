import pLimit from "p-limit";
import { OPERATION_KINDS, type Operation, type OperationKind } from "../api/operation.ts";
import { createClients, type ApplianceClient, type ReceivedAnswer } from "../client/client.ts";
import { meaningOf } from "../api/failure.ts";
import type { ApplianceConfig } from "../config/config.ts";
import { createFleet } from "../fleet/fleet.ts";
import type { Observation } from "../polling/observation.ts";
import { poll } from "../polling/poll.ts";
import { POLL_RULES } from "../polling/rules.ts";
import { toSeconds } from "../../support/clock.ts";
import type { Io } from "./command.ts";
import { summarize, type OperationResult, type PolledAppliance } from "./poll-report.ts";

const MAX_CONCURRENT = 32;

/** Returns the results of work on each appliance, 32 at a time; shows how many are done. */
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

/** Returns the ids of the websites that an appliance lists; `undefined` if it lists none. */
async function listedIds(
  client: ApplianceClient,
  appliance: ApplianceConfig,
): Promise<readonly number[] | undefined> {
  const { timeoutMs } = appliance.polling.discovery;
  const { kind, outcome } = await poll(client, appliance.kind, { kind: "website_list" }, timeoutMs);
  return kind === "website_list" && outcome.ok ? outcome.value.ids : undefined;
}

interface PollAllOptions {
  /** The kinds of operations that are polled; default: all. */
  readonly kinds?: readonly OperationKind[];
  /** Whether a website's status that is not expected is a failure. @see summarize */
  readonly mustBeUp?: boolean;
}

/** Polls each operation of each appliance once, one by one: the VRRP list first. */
export function pollAll(
  appliances: readonly ApplianceConfig[],
  io: Io,
  { kinds = OPERATION_KINDS, mustBeUp = false }: PollAllOptions = {},
): Promise<readonly PolledAppliance[]> {
  const createClient = createClients(io, io.clock);
  return perAppliance(appliances, io, async (appliance) => {
    const { name, polling } = appliance;
    const client = createClient(appliance);
    const fleet = createFleet();
    fleet.configure({ appliances: [{ ...appliance, enabled: true }] }, 0);
    const polls: Pick<OperationResult, "observation" | "answer">[] = [];
    const run = async (operation: Operation): Promise<Observation["outcome"]> => {
      let answer: ReceivedAnswer | undefined;
      const sentAtMs = io.clock.monotonicMs();
      const { timeoutMs } = polling[POLL_RULES[operation.kind].timing];
      const result = await poll(client, appliance.kind, operation, timeoutMs, {
        isAlone: appliance.isAlone,
        onAnswer: (received) => (answer = received),
      });
      const observation: Observation = {
        ...result,
        appliance: name,
        completedAtMs: io.clock.wallMs(),
        isOutOfTurn: false,
        sentAtMs,
        sinceMs: undefined,
        durationSeconds: toSeconds(io.clock.monotonicMs() - sentAtMs),
        expiresAtMs: Number.POSITIVE_INFINITY,
        certificate: client.certificate(),
      };
      fleet.record(observation, 0);
      polls.push({ observation, answer });
      return observation.outcome;
    };
    let isDown = false;
    for (const kind of kinds) {
      // The operations of websites that discovery has found so far are among them.
      for (const operation of isDown ? [] : fleet.operations(name).filter((each) => each.kind === kind)) {
        const outcome = await run(operation);
        if (outcome.ok) continue;
        isDown ||= kind === "vrrp" && meaningOf(outcome.failure.reason).stopsOtherPolls === true;
        // After a refusal, the other websites are not requested.
        if (outcome.failure.reason === "auth" && POLL_RULES[kind].backoffGroup !== undefined) break;
      }
    }
    const isGone = polls.some(
      ({ observation: { kind, outcome } }) =>
        kind === "website_test" && !outcome.ok && outcome.failure.isGone,
    );
    const knownIds = isGone ? await listedIds(client, appliance) : undefined;
    client.close();
    const facts = fleet.cluster(appliance.cluster, 0);
    const results = polls.map((each) => ({ ...each, ...summarize(each.observation, facts, mustBeUp) }));
    const ok = results.every((each) => each.ok);
    return { appliance, ok, results, certificate: client.certificate(), knownIds, facts };
  });
}
