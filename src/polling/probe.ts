import type { ApplianceConfig } from "../config/config.ts";
import { toSeconds, type Clock } from "../support/clock.ts";
import type { Failure } from "../client/failure.ts";
import type { Observation, Operation, OperationKind } from "./observation.ts";
import { unsent, UNSENT_DOWN } from "./poll.ts";

/** A poll that strikes its own deadline knows better than we why; it is given that much longer to tell. */
const GRACE_MS = 100;

export interface ProbeDeps {
  readonly clock: Clock;
  /** @see Runner.ask */
  readonly ask: (appliance: string, operation: Operation) => Promise<Observation | undefined>;
  /** @see Runner.isDown */
  readonly isDown: (appliance: string) => boolean;
}

export interface ProbeRequest {
  readonly appliances: readonly ApplianceConfig[];
  readonly operations: ReadonlySet<OperationKind>;
  /** How long all of it may take; no operation takes longer than its configured timeout. */
  readonly timeoutMs: number;
}

export interface ProbeResult {
  /** What polls have yielded, made for this probe or joined by it. */
  readonly observations: readonly Observation[];
  /** What this probe alone did not wait for; the polls go on for others. */
  readonly givenUp: readonly Observation[];
  /** Whether every poll succeeded. */
  readonly isSuccess: boolean;
}

/** Polls all appliances at once, each operation within its deadline. Never rejects. */
export async function probe(deps: ProbeDeps, request: ProbeRequest): Promise<ProbeResult> {
  const untilMs = deps.clock.monotonicMs() + request.timeoutMs;
  const probed = await Promise.all(
    request.appliances.map((appliance) => probeAppliance(deps, appliance, request.operations, untilMs)),
  );
  const answers = probed.flat();
  const known = answers.flatMap(({ observation, isGivenUp }) =>
    observation === undefined ? [] : [{ observation, isGivenUp }],
  );
  return {
    observations: known.flatMap(({ observation, isGivenUp }) => (isGivenUp ? [] : [observation])),
    givenUp: known.flatMap(({ observation, isGivenUp }) => (isGivenUp ? [observation] : [])),
    isSuccess: answers.every(({ observation }) => observation?.outcome.ok === true),
  };
}

interface Answer {
  /** Nothing where the appliance or the website is gone. */
  readonly observation: Observation | undefined;
  readonly isGivenUp: boolean;
}

/** First the list, which tells whether website tests would reach anybody. */
async function probeAppliance(
  deps: ProbeDeps,
  appliance: ApplianceConfig,
  operations: ReadonlySet<OperationKind>,
  untilMs: number,
): Promise<readonly Answer[]> {
  const websites = operations.has("website_test") ? appliance.websites : [];
  const wantsList = operations.has("vrrp");
  const asksList = wantsList || (websites.length > 0 && deps.isDown(appliance.name));
  const list = asksList ? await askWithin(deps, appliance, { kind: "vrrp" }, untilMs) : undefined;
  const tests = websites.map(({ id }): Operation => ({ kind: "website_test", websiteId: id }));
  // The poller does not know of a list that was given up here alone.
  const tested =
    list?.isGivenUp === true
      ? tests.map((test) => givenUp(deps, appliance, test, UNSENT_DOWN, undefined))
      : await Promise.all(tests.map((test) => askWithin(deps, appliance, test, untilMs)));
  return wantsList && list !== undefined ? [list, ...tested] : tested;
}

function askWithin(
  deps: ProbeDeps,
  appliance: ApplianceConfig,
  operation: Operation,
  untilMs: number,
): Promise<Answer> {
  const startedMs = deps.clock.monotonicMs();
  const { vrrp, websites } = appliance.polling;
  const { timeoutMs } = operation.kind === "vrrp" ? vrrp : websites;
  const waitMs = Math.max(0, Math.min(timeoutMs + GRACE_MS, untilMs - startedMs));
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      const waitedSeconds = toSeconds(deps.clock.monotonicMs() - startedMs);
      resolve(givenUp(deps, appliance, operation, DEADLINE, waitedSeconds));
    }, waitMs);
    void deps.ask(appliance.name, operation).then((observation) => {
      clearTimeout(timer);
      return resolve({ observation, isGivenUp: false });
    });
  });
}

function givenUp(
  { clock }: ProbeDeps,
  { name }: ApplianceConfig,
  operation: Operation,
  failure: Failure,
  durationSeconds: number | undefined,
): Answer {
  const observation: Observation = {
    ...unsent(operation, failure),
    appliance: name,
    completedAtMs: clock.wallMs(),
    durationSeconds,
    expiresAtMs: Number.POSITIVE_INFINITY,
    certificate: undefined,
  };
  return { observation, isGivenUp: true };
}

const DEADLINE: Failure = { reason: "timeout", message: "no answer within the deadline of the probe" };
