import { keysOf } from "../../support/keys.ts";
import type { ApplianceKind } from "./kind.ts";
import { MANAGEMENT_API } from "./management-api.ts";
import { OPNSENSE } from "./opnsense.ts";
import type { AnyApiOperation, OperationKind } from "./operation.ts";

/** The kinds of appliances, by the values of `kind` in the configuration. */
const KINDS = {
  management_api: MANAGEMENT_API,
  opnsense: OPNSENSE,
} as const satisfies Readonly<Record<string, ApplianceKind>>;

export type KindName = keyof typeof KINDS;
export const KIND_NAMES = keysOf(KINDS);
export const DEFAULT_KIND: KindName = "management_api";

export function kindNamed(name: KindName): ApplianceKind {
  return KINDS[name];
}

/** Returns an operation of a kind of appliance; `undefined` if its API lacks the operation. */
export function apiOf(name: KindName, kind: OperationKind): AnyApiOperation | undefined {
  return kindNamed(name).operations[kind];
}
