import { coalesce } from "../support/coalesce.ts";
import type { Logger } from "../support/log.ts";
import type { VrrpConfig } from "./config.ts";
import type { VrrpSource } from "./routes.ts";
import { createKeepalivedVrrp, type SendSignal } from "./vrrp-keepalived.ts";

/**
 * Creates the VRRP source of a configuration. Simultaneous requests share one dump of keepalived, which never starts before
 * the request. Logs whether the state is known, and why not, when that changes.
 */
export function createVrrpSource(vrrp: VrrpConfig, sendSignal: SendSignal, logger: Logger): VrrpSource {
  if (vrrp.source === "static") return () => Promise.resolve({ ok: true, interfaces: vrrp.interfaces });
  const source = createKeepalivedVrrp(vrrp, sendSignal);
  let lastReason: string | undefined;
  return coalesce(async () => {
    const state = await source();
    const reason = state.ok ? undefined : state.reason;
    if (reason !== lastReason) {
      if (reason === undefined) logger.info("vrrp state is known");
      else logger.warn({ reason }, "vrrp state is not known");
    }
    lastReason = reason;
    return state;
  });
}
