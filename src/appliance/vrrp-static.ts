import type { LocalVrrpInterface } from "../api/vrrp-list.ts";
import type { VrrpSource } from "./routes.ts";

/** A source that always tells these interfaces, as the configuration holds them. */
export function createStaticVrrp(interfaces: readonly LocalVrrpInterface[]): VrrpSource {
  return () => Promise.resolve({ ok: true, interfaces });
}
