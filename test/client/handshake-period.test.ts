import { expect, test } from "vitest";
import { handshakePeriod } from "../../src/client/tls.ts";
import { phaseFraction } from "../../src/support/phase.ts";

const MINUTE_MS = 60_000;

test("the periods of a fleet's appliances begin at different times, evenly distributed", () => {
  const renewals = Array.from({ length: 55 }, () => 0);
  for (let nth = 0; nth < 5500; nth += 1) {
    const phase = phaseFraction(`https://10.0.${nth >> 8}.${nth & 255}`);
    const begins = renewals.findIndex(
      (_, minute) =>
        handshakePeriod(phase, (minute + 1) * MINUTE_MS) > handshakePeriod(phase, minute * MINUTE_MS),
    );
    renewals[begins] = (renewals[begins] ?? 0) + 1;
  }
  expect(renewals.reduce((sum, count) => sum + count)).toBe(5500);
  // 100 a minute; four standard deviations of a random spread are 40.
  expect(Math.max(...renewals)).toBeLessThan(140);
});
