import pLimit, { type LimitFunction } from "p-limit";
import type { LimitName } from "./rules.ts";

/** Calls `run` when a slot is free. The slot is taken until the promise that `run` returns is fulfilled; it never rejects. */
export type Limit = (run: () => Promise<void>) => Promise<void>;

/** These limits count the polls of all appliances. */
export type FleetLimits = Readonly<Record<"website_tests" | "discovery", LimitFunction>>;

/** The limits for the polls of one appliance: its own, and those of the fleet. */
export interface ApplianceLimits extends Readonly<Record<LimitName, Limit>> {
  readonly appliance_website_tests: LimitFunction;
}

export function limitsOfAppliance({ website_tests, discovery }: FleetLimits): ApplianceLimits {
  return {
    website_tests: takingTurns(website_tests),
    discovery,
    appliance_website_tests: pLimit(1),
    appliance_details: oneAtATime(),
  };
}

/** Lets one poll of the appliance at a time wait for a slot: appliances with many polls due take turns. */
function takingTurns(limit: Limit): Limit {
  const turn = oneAtATime();
  return (run) =>
    new Promise((resolve) => {
      const enter = (begin: () => void): void => {
        const serve = (): Promise<void> => {
          begin();
          return run();
        };
        void limit(serve).then(resolve);
      };
      void turn(() => new Promise(enter));
    });
}

/** A limit of one slot. `pLimit(1)` would take more than a kilobyte for each appliance. */
function oneAtATime(): Limit {
  let last = Promise.resolve();
  return (run) => (last = last.then(run));
}
