import type { Proof } from "./proof.ts";
import { PROOFS_OF_CERTIFICATES } from "./proofs-of-certificates.ts";
import { PROOFS_OF_CLIENTS } from "./proofs-of-clients.ts";
import { PROOFS_OF_CLOCKS } from "./proofs-of-clocks.ts";
import { PROOFS_OF_CONFIGURATION } from "./proofs-of-configuration.ts";
import { PROOFS_OF_CONTAINMENT } from "./proofs-of-containment.ts";
import { PROOFS_OF_DEFERRALS } from "./proofs-of-deferrals.ts";
import { PROOFS_OF_INDEPENDENCE } from "./proofs-of-independence.ts";
import { PROOFS_OF_LIMITS } from "./proofs-of-limits.ts";
import { PROOFS_OF_LOAD } from "./proofs-of-load.ts";
import { PROOFS_OF_PAUSES } from "./proofs-of-pauses.ts";
import { PROOFS_OF_PUNCTUALITY } from "./proofs-of-punctuality.ts";
import { PROOFS_OF_READ_ERRORS } from "./proofs-of-read-errors.ts";
import { PROOFS_OF_RELOADS } from "./proofs-of-reloads.ts";
import { PROOFS_OF_SCRAPES } from "./proofs-of-scrapes.ts";
import { PROOFS_OF_STARTS } from "./proofs-of-starts.ts";
import { PROOFS_OF_THE_PROCESS } from "./proofs-of-the-process.ts";
import { PROOFS_OF_THE_WEB } from "./proofs-of-the-web.ts";

/** Every fault that takes more than one kind of answer to show; those that take longest come first. */
export const PROOFS: readonly Proof[] = [
  ...PROOFS_OF_SCRAPES,
  ...PROOFS_OF_CLIENTS,
  ...PROOFS_OF_RELOADS,
  ...PROOFS_OF_PAUSES,
  ...PROOFS_OF_CLOCKS,
  ...PROOFS_OF_LIMITS,
  ...PROOFS_OF_READ_ERRORS,
  ...PROOFS_OF_CERTIFICATES,
  ...PROOFS_OF_CONTAINMENT,
  ...PROOFS_OF_LOAD,
  ...PROOFS_OF_DEFERRALS,
  ...PROOFS_OF_PUNCTUALITY,
  ...PROOFS_OF_THE_WEB,
  ...PROOFS_OF_INDEPENDENCE,
  ...PROOFS_OF_THE_PROCESS,
  ...PROOFS_OF_CONFIGURATION,
  ...PROOFS_OF_STARTS,
];
