import { setTimeout as delay } from "node:timers/promises";

import type { VrrpConfig } from "../appliance/config-vrrp.ts";
import type { VrrpSource } from "../appliance/routes.ts";
import { createKeepalivedVrrp } from "../appliance/vrrp-keepalived.ts";
import { createStaticVrrp } from "../appliance/vrrp-static.ts";
import { coalesce } from "../coalesce.ts";
import type { Io } from "./io.ts";

/** How long a dump waits for more requests that it may answer. */
const GATHER_MS = 25;

/**
 * The source of the VRRP state that a configuration asks for. Requests that arrive together share one dump of
 * keepalived, and none is answered by a dump that began before it.
 */
export function createVrrpSource(vrrp: VrrpConfig, { sendSignal }: Pick<Io, "sendSignal">): VrrpSource {
  if (vrrp.source === "static") return createStaticVrrp(vrrp.interfaces);
  return coalesce(createKeepalivedVrrp(vrrp, sendSignal), () => delay(GATHER_MS));
}
