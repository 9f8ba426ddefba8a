import type { Failure } from "./failure.ts";

/** What a request or a poll yields. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };

/** The certificate an appliance presented last, whether it was trusted or not. */
export interface PresentedCertificate {
  /** Unix time, in seconds; `undefined` where it cannot be read. */
  readonly notAfterSeconds: number | undefined;
  readonly subject: string;
  readonly issuer: string;
  /** Lower-case hex without colons. */
  readonly sha256: string;
}
