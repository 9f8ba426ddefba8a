import type { LocalVrrpInterface } from "../api/vrrp-list.ts";
import type { VrrpSource } from "./routes.ts";

/** A source that always returns these interfaces. */
export function createStaticVrrp(interfaces: readonly LocalVrrpInterface[]): VrrpSource {
  return () => Promise.resolve({ ok: true, interfaces });
}
