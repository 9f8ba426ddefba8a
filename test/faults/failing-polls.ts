import type { FailureReason } from "../../src/client/failure.ts";
import type { OpenEndpoint } from "./endpoints.ts";
import { FAILING_ANSWERS } from "./failing-answers.ts";
import { FAILING_CONNECTIONS } from "./failing-connections.ts";
import { FAILING_PROXIES } from "./failing-proxies.ts";
import { FAILING_TRANSFERS } from "./failing-transfers.ts";

/** A fault that every poll of the VRRP list meets. */
export interface FailingPoll {
  readonly fault: number;
  readonly name: string;
  readonly open: OpenEndpoint;
  readonly reason: FailureReason;
  /** Whether it is the deadline that ends the poll, as it does wherever the reason is `timeout`. */
  readonly isSlow?: true;
  /** What the log says of it. */
  readonly detail: string | RegExp;
  /** Most bytes of the answer that one poll takes in. */
  readonly maxBytesPerPoll?: number;
}

/** Every row of the table. */
export const FAILING_POLLS: readonly FailingPoll[] = [
  ...FAILING_CONNECTIONS,
  ...FAILING_PROXIES,
  ...FAILING_TRANSFERS,
  ...FAILING_ANSWERS,
];
