import { setTimeout as delay } from "node:timers/promises";
import type { VrrpConfig } from "../appliance/config.ts";
import type { VrrpSource } from "../appliance/routes.ts";
import { createKeepalivedVrrp } from "../appliance/vrrp-keepalived.ts";
import { createStaticVrrp } from "../appliance/vrrp-static.ts";
import { coalesce } from "../support/coalesce.ts";
import type { Logger } from "../support/log.ts";
import type { Io } from "./io.ts";

/** How long a dump waits for more requests: enough for twenty new connections. */
const GATHER_MS = 50;

/**
 * Creates the VRRP source of a configuration. Simultaneous requests share one dump of keepalived, which never starts before
 * the request. Logs whether the state is known, and why not, when that changes.
 */
export function createVrrpSource(
  vrrp: VrrpConfig,
  { sendSignal }: Pick<Io, "sendSignal">,
  logger: Logger,
  gather: () => Promise<unknown> = () => delay(GATHER_MS),
): VrrpSource {
  if (vrrp.source === "static") return createStaticVrrp(vrrp.interfaces);
  const source = logChanges(createKeepalivedVrrp(vrrp, sendSignal), logger);
  return coalesce(source, gather);
}

function logChanges(source: VrrpSource, logger: Logger): VrrpSource {
  let lastReason: string | undefined;
  return async () => {
    const state = await source();
    const reason = state.ok ? undefined : state.reason;
    if (reason !== lastReason) {
      if (reason === undefined) logger.info("vrrp state is known");
      else logger.warn({ reason }, "vrrp state is not known");
    }
    lastReason = reason;
    return state;
  };
}
