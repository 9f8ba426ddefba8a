import type { VrrpListSnapshot } from "../fleet/snapshot.ts";
import type { VrrpInterface } from "../api/vrrp.ts";
import { kept, once } from "../../support/kept.ts";
import type { Case, FlappingVerdict } from "./verdict.ts";

/** An interface flaps if its state changed this often within five minutes. */
export const MANY_CHANGES = 5;
const WITHIN_MS = 300_000;

/** An interface that flaps. */
export interface FlappingInterface {
  readonly appliance: string;
  readonly reported: VrrpInterface;
  /** The monotonic instants of its latest changes, as many as make it flap; the latest one last. */
  readonly changesMs: readonly number[];
}

/** Returns the verdict on the interfaces of a cluster that flap; `undefined` if none does. */
export function flappingVerdict({
  cachedInputs,
  before,
  at: { monotonicMs, wallMs },
}: Pick<Case, "cachedInputs" | "before" | "at">): FlappingVerdict | undefined {
  const old = before?.flapping;
  const found = cachedInputs.appliances.flatMap(
    ({ list, identity: { appliance } }): readonly FlappingInterface[] =>
      list === undefined
        ? // An appliance that flaps may be silent now and then.
          (old?.interfaces.filter((each) => each.appliance === appliance) ?? [])
        : oftenChangedIn(list).map(({ reported, changesMs }) => ({ appliance, reported, changesMs })),
  );
  const interfaces = found.filter(({ changesMs }) => endOf(changesMs) > monotonicMs);
  if (interfaces.length === 0) return undefined;
  const endsMs = Math.max(...interfaces.map(({ changesMs }) => endOf(changesMs)));
  return kept(old, { sinceMs: old === undefined ? wallMs : old.sinceMs, interfaces, endsMs });
}

const oftenChangedIn = once(({ interfaces }: VrrpListSnapshot) =>
  interfaces.filter(({ changesMs }) => changesMs.length >= MANY_CHANGES),
);

/** Returns the monotonic instant at which an interface does not flap any more, unless it changes again. */
function endOf([firstMs = Number.NEGATIVE_INFINITY]: readonly number[]): number {
  return firstMs + WITHIN_MS;
}
