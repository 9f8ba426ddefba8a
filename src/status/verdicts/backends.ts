import type { WebsiteDetails } from "../../api/website-details.ts";

export const BACKEND_STATES = ["ok", "some_down", "none_usable", "none_usable_but_up"] as const;
export type BackendState = (typeof BACKEND_STATES)[number];

/** The servers behind a website, as one appliance reports them. */
export interface BackendView {
  readonly details: WebsiteDetails;
  /** Whether the appliance is known to be MASTER of a group of its cluster. */
  readonly isMaster: boolean;
}

/**
 * The state of the servers behind a website; `undefined` while it is not known, and for a website that is disabled. The masters
 * decide whether there is a usable one; where none of them knows, all appliances. `isUp`: tests find the website up;
 * `isMasterSilent`: the details of a master that has the website are not known.
 *
 * - `none_usable`: no server that is in service reports OK. `none_usable_but_up`: and yet tests find the website up.
 * - `some_down`: an appliance reports an error of a server that is in service.
 */
export function judgeBackends(
  views: readonly BackendView[],
  { isUp, isMasterSilent }: { readonly isUp: boolean; readonly isMasterSilent: boolean },
): BackendState | undefined {
  const enabled = views.filter(({ details }) => details.isEnabled !== false);
  const known = enabled.flatMap(({ details, isMaster }) => {
    const usable = usableBackends(details);
    return usable === undefined ? [] : [{ usable, isMaster }];
  });
  const masters = known.filter(({ isMaster }) => isMaster);
  // Where all masters have it disabled, nobody misses its servers.
  const isOff = views.some(({ isMaster }) => isMaster) && !enabled.some(({ isMaster }) => isMaster);
  const isLost =
    masters.length > 0
      ? masters.some(({ usable }) => usable === 0)
      : !isOff && known.length > 0 && known.every(({ usable }) => usable === 0);
  if (isLost) return isUp ? "none_usable_but_up" : "none_usable";
  if (isMasterSilent) return undefined;
  if (enabled.some(({ details }) => failedBackends(details).length > 0)) return "some_down";
  return known.length === 0 ? undefined : "ok";
}

/**
 * How many servers that are in service report OK; `undefined` if none does and one may be usable that cannot be read. A server
 * that was taken out by hand is not in service.
 */
export function usableBackends({ backends, invalid }: WebsiteDetails): number | undefined {
  if (backends === undefined) return undefined;
  const usable = backends.filter(({ role, isOk }) => isInService(role) && isOk === true).length;
  // One of an unknown role that fails is not usable, whatever its role is.
  const isUncertain = backends.some(
    ({ role, isOk }) => role !== "down" && isOk !== false && (role === undefined || isOk === undefined),
  );
  return usable === 0 && (isUncertain || lacksServers({ invalid })) ? undefined : usable;
}

/** Whether a row of its servers could not be read. */
export function lacksServers({ invalid }: Pick<WebsiteDetails, "invalid">): boolean {
  return invalid.some((path) => /^\$\.rhost\[\d+\]\[1\]$/.test(path));
}

/** The servers in service that report an error. */
export function failedBackends({ backends = [] }: WebsiteDetails): readonly string[] {
  return backends
    .filter(({ role, isOk }) => isInService(role) && isOk === false)
    .map(({ address }) => address);
}

function isInService(role: NonNullable<WebsiteDetails["backends"]>[number]["role"]): boolean {
  return role === "active" || role === "backup";
}
