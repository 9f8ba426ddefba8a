/** Shorter than an hour, so that with polls up to five minutes apart no certificate that is reported is older than that. */
const PERIOD_MS = 55 * 60_000;

/**
 * The number of the period of 55 minutes that `monotonicMs` belongs to. A full handshake vouches for connections and
 * sessions of its own period alone. `phase`, from 0 up to 1: where in that time the periods of one appliance begin, so
 * that a fleet does not renew all its handshakes at once.
 */
export function handshakePeriod(phase: number, monotonicMs: number): number {
  return Math.floor(monotonicMs / PERIOD_MS - phase);
}
