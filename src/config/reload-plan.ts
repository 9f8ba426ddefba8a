import type { Config } from "./config.ts";

/** Names of appliances; `removed` in the order of the old configuration, the others of the new. */
export interface ReloadPlan {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
  readonly kept: readonly string[];
}

/** What happens to each appliance, identified by its name, when `next` replaces `old`. One that is kept is the same object. */
export function planReload(old: Config, next: Config): ReloadPlan {
  const before = new Map(old.appliances.map((appliance) => [appliance.name, appliance]));
  const after = new Map(next.appliances.map((appliance) => [appliance.name, appliance]));
  const isKept = (name: string) => before.get(name) === after.get(name);
  const stays = [...after.keys()].filter((name) => before.has(name));
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: stays.filter((name) => !isKept(name)),
    kept: stays.filter(isKept),
  };
}
