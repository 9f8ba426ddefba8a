import { isDeepStrictEqual } from "node:util";
import type { ApplianceConfig, Config } from "./config.ts";

/** What of an appliance's settings differs; its secrets count through `http`. */
type Aspect =
  | "baseUrl"
  | "http"
  | "vrrpTiming"
  | "websiteTiming"
  | "maxConcurrentWebsiteTests"
  | "labels"
  | "websites"
  | "enabled"
  | "cluster";

interface ChangedAppliance {
  readonly name: string;
  readonly aspects: ReadonlySet<Aspect>;
}

/** Names of appliances, each in one of the lists; `removed` in the order of the old configuration, the rest of the new. */
export interface ReloadPlan {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly ChangedAppliance[];
  readonly kept: readonly string[];
}

const ASPECTS: readonly (readonly [Aspect, (appliance: ApplianceConfig) => unknown])[] = [
  ["baseUrl", ({ baseUrl }) => baseUrl],
  ["http", ({ http }) => http.fingerprint],
  ["vrrpTiming", ({ polling }) => polling.vrrp],
  ["websiteTiming", ({ polling }) => polling.websites],
  ["maxConcurrentWebsiteTests", ({ polling }) => polling.maxConcurrentWebsiteTests],
  ["labels", ({ labels }) => labels],
  ["websites", ({ websites }) => websites],
  ["enabled", ({ enabled }) => enabled],
  ["cluster", ({ cluster }) => cluster],
];

/** What becomes of each appliance when `next` takes the place of `old`; an appliance is told by its name. */
export function planReload(old: Config, next: Config): ReloadPlan {
  const before = new Map(old.appliances.map((appliance) => [appliance.name, appliance]));
  const after = new Set(next.appliances.map(({ name }) => name));
  const stay = next.appliances.flatMap((appliance) => {
    const was = before.get(appliance.name);
    return was ? [{ name: appliance.name, aspects: changedAspects(was, appliance) }] : [];
  });
  return {
    added: [...after].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: stay.filter(({ aspects }) => aspects.size > 0),
    kept: stay.filter(({ aspects }) => aspects.size === 0).map(({ name }) => name),
  };
}

function changedAspects(was: ApplianceConfig, is: ApplianceConfig): ReadonlySet<Aspect> {
  const changed = ASPECTS.filter(([, pick]) => !isDeepStrictEqual(pick(was), pick(is)));
  return new Set(changed.map(([aspect]) => aspect));
}
