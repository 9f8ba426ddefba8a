import type { ApiOperation, OperationValues } from "./operation.ts";

type Operations = { readonly [K in keyof OperationValues]: ApiOperation<OperationValues[K]> };

/** A kind of appliance: the API of a vendor. */
export interface ApplianceKind {
  /** The operations that the API has. Without `website_test` it has no websites, without `website_list` no discovery of them. */
  readonly operations: Pick<Operations, "vrrp"> & Partial<Operations>;
  /** The port at which the API usually is. */
  readonly port: number;
  /** The first release that the API is written for: earlier ones may lack it. `undefined` if all have it. */
  readonly since?: string;
  /** What the user needs on the appliance, in the vendor's words, for the advice about a refusal; `undefined` if it has no name. */
  readonly permission?: string;
}
