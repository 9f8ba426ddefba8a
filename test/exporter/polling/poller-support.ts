import type { ApplianceConfig, Config, OperationTiming } from "../../../src/exporter/config/config.ts";
import pLimit from "p-limit";
import { createAppliancePoller } from "../../../src/exporter/polling/appliance-poller.ts";
import type { Task } from "../../../src/exporter/polling/decide.ts";
import type { ApplianceClient, Body } from "../../../src/exporter/client/client.ts";
import type { Observation, PollEvents, SkipReason } from "../../../src/exporter/polling/observation.ts";
import { operationKey, type Operation, type OperationKind } from "../../../src/exporter/api/operation.ts";
import type { Outcome } from "../../../src/exporter/api/failure.ts";
import { expiresAtMs } from "../../../src/exporter/polling/instants.ts";
import { startRunner } from "../../../src/exporter/polling/runner.ts";
import { applianceOf, configOf, failureOf, websiteOf } from "../../support/observations.ts";
import { holdClock } from "./held-clock.ts";

export const VRRP: Operation = { kind: "vrrp" };
export const website = (websiteId: number): Operation => ({ kind: "website_test", websiteId });

/** An appliance with four websites, polled every 5 s and 30 s. */
export const WAF = applianceOf({ name: "waf", websites: [1, 2, 3, 4].map((id) => websiteOf({ id })) });

/** A client whose requests wait until the test answers them. */
export interface FakeClient extends ApplianceClient {
  /** Paths of waiting requests. */
  waiting(): readonly string[];
  /** Answers the oldest request for a path with this end; throws if there is none. */
  answer(pathEnd: string, outcome: Outcome<Body>): Promise<void>;
  hasCredentials: boolean;
  /** The credentials of later requests. */
  credentials: symbol;
  isClosed: boolean;
}

export const VRRP_PATH = "/interface/virtual";
export const sitePath = (id: number) => `/website/${id}/test`;
/** The body of an answer to a request without credentials. */
export function bodyOf(text: string): Body {
  return { bytes: Buffer.from(text), redact: (same) => same };
}

export const NO_INTERFACES: Outcome<Body> = { ok: true, value: bodyOf("{}") };
export const SITE_OK: Outcome<Body> = {
  ok: true,
  value: bodyOf('"HTTP CONNECT --- HTTP\\nHTTP/1.1 200 OK\\n\\n"'),
};

export function failing(...given: Parameters<typeof failureOf>): Outcome<never> {
  return { ok: false, failure: failureOf(...given) };
}

export function fakeClient(): FakeClient {
  const requests: { readonly path: string; readonly resolve: (outcome: Outcome<Body>) => void }[] = [];
  const client: FakeClient = {
    get: (path, _timeoutMs, options) => {
      options?.onCredentials?.(client.credentials);
      return new Promise((resolve) => {
        const request = { path, resolve };
        requests.push(request);
        options?.onStarted?.(() => {
          requests.splice(requests.indexOf(request), 1);
          resolve(failing("internal"));
        });
      });
    },
    post: () => Promise.reject(new Error("polls never post")),
    certificate: () => undefined,
    hasNewCredentials: () => Promise.resolve(client.hasCredentials),
    close: () => void (client.isClosed = true),
    waiting: () => requests.map(({ path }) => path),
    answer: async (pathEnd, outcome) => {
      const at = requests.findIndex(({ path }) => path.endsWith(pathEnd));
      const [request] = requests.splice(at, at < 0 ? 0 : 1);
      if (request === undefined) throw new Error(`no request for ${pathEnd}`);
      request.resolve(outcome);
      await settle();
    },
    hasCredentials: false,
    credentials: Symbol("credentials"),
    isClosed: false,
  };
  return client;
}

/** Lets pending promises settle. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
}

export const NO_EVENTS: PollEvents = {
  started: () => {},
  observed: () => {},
  skipped: () => {},
  ended: () => {},
};

/** A client that answers each request after this time. */
export function slowClient(takesMs: number, answer: (path: string) => Outcome<Body>): ApplianceClient {
  const client = fakeClient();
  return {
    ...client,
    get: (path, _timeoutMs, options) => {
      options?.onStarted?.(() => {});
      options?.onCredentials?.(client.credentials);
      const outcome = answer(path);
      return new Promise((resolve) => setTimeout(() => resolve(outcome), takesMs));
    },
  };
}

/** Tests of the configured websites. */
export function testsOnly({ websites }: ApplianceConfig): readonly Operation[] {
  return [VRRP, ...websites.map(({ id }) => website(id))];
}

/** A runner under a held clock, with clients that the test answers for. */
export function startHeldRunner(...appliances: readonly ApplianceConfig[]) {
  const clock = holdClock();
  const observed: Observation[] = [];
  const skipped: string[] = [];
  const clients: FakeClient[] = [];
  const events: PollEvents = {
    ...NO_EVENTS,
    observed: (observation) => void observed.push(observation),
    skipped: (kind, reason, count) => void skipped.push(`${kind} ${reason} ${count}`),
  };
  const runner = startRunner({ clock, onClockJump: () => {}, operationsOf: testsOnly });
  const createClient = (): FakeClient => {
    const client = fakeClient();
    clients.push(client);
    return client;
  };
  const applyConfig = (config: Config): void => {
    void runner.prepare(config, createClient, events)();
  };
  const apply = (...next: readonly ApplianceConfig[]): void => applyConfig(configOf(...next));
  apply(...appliances);
  const [client = fakeClient()] = clients;
  return { clock, runner, observed, skipped, clients, client, apply, applyConfig };
}

function gapMs(timing: OperationTiming): number {
  return timing.kind === "interval" ? timing.intervalMs : 0;
}

/** A poller under a held clock, with a client that the test answers for. */
export function startHeldPoller(appliance: ApplianceConfig = WAF) {
  const clock = holdClock();
  const client = fakeClient();
  const observed: Observation[] = [];
  const started: { readonly kind: OperationKind; readonly latenessSeconds: number }[] = [];
  const skipped: { readonly kind: OperationKind; readonly reason: SkipReason; readonly count: number }[] = [];
  /** Keys of operations that are in the timetable. */
  const regular = new Set<string>();
  let planned = testsOnly(appliance);
  let inFlight = 0;
  const events: PollEvents = {
    started: (kind, latenessSeconds) => {
      inFlight += 1;
      started.push({ kind, latenessSeconds });
    },
    observed: (observation) => void observed.push(observation),
    skipped: (kind, reason, count) => void skipped.push({ kind, reason, count }),
    ended: () => void (inFlight -= 1),
  };
  const poller = createAppliancePoller(
    {
      clock,
      events,
      limits: { website_tests: pLimit(64), discovery: pLimit(64) },
      turns: () => Promise.resolve(),
      timetable: {
        put: ({ operation }: Task) => void regular.add(operationKey(operation)),
        remove: ({ operation }: Task) => void regular.delete(operationKey(operation)),
        nextDueMs: ({ operation }: Task) =>
          regular.has(operationKey(operation)) ? Number.POSITIVE_INFINITY : undefined,
        gapMs,
        endOf: (timing, fromMs) => ({
          expiresAtMs: expiresAtMs(fromMs, gapMs(timing), timing.timeoutMs),
        }),
      },
      operationsOf: () => planned,
      isHastened: () => false,
    },
    appliance,
    client,
  );
  poller.update(appliance);
  poller.arrange();

  /** Makes operations due now, and lets them begin. */
  const due = async (...operations: readonly Operation[]): Promise<void> => {
    for (const operation of operations) poller.due(operation, clock.monotonicMs());
    await settle();
  };
  return {
    clock,
    poller,
    client,
    observed,
    started,
    skipped,
    regular,
    /** Changes what is planned. */
    replan: ({ tests }: { readonly tests: readonly number[] }) => {
      planned = [VRRP, ...tests.map(website)];
      poller.arrange();
    },
    inFlight: () => inFlight,
    due,
    /** Polls the operation and answers it at once. */
    poll: async (operation: Operation, outcome: Outcome<Body>) => {
      await due(operation);
      await client.answer("websiteId" in operation ? sitePath(operation.websiteId) : VRRP_PATH, outcome);
    },
  };
}

/** An observation in one line: operation, and `ok` or the reason. */
export function shortly(observation: Observation): string {
  const operation =
    observation.kind === "website_test" ? `website ${observation.websiteId}` : operationKey(observation);
  return `${operation}: ${observation.outcome.ok ? "ok" : observation.outcome.failure.reason}`;
}
