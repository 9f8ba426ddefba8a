import { expect, test } from "vitest";
import { systemClock } from "../../src/support/clock.ts";
import { watchDescriptorLimit, limitFor, shareDescriptors } from "../../src/support/open-files.ts";

test("the limit of this process is read", () => {
  expect(watchDescriptorLimit(systemClock)()).toBeGreaterThan(0);
});

test.each([
  { limit: 10, appliances: 1, web: 1 },
  { limit: 64, appliances: 24, web: 8 },
  { limit: 1024, appliances: 744, web: 248 },
  { limit: 16_384, appliances: 15_840, web: 512 },
  { limit: Number.POSITIVE_INFINITY, appliances: Number.POSITIVE_INFINITY, web: 512 },
])(
  "of $limit descriptors $appliances are for appliances and $web for the web server",
  ({ limit, ...shares }) => {
    expect(shareDescriptors(limit)).toEqual(shares);
  },
);

test.each([2, 24, 1535, 1536, 10_000])("the computed limit for %i appliances suffices", (appliances) => {
  expect(shareDescriptors(limitFor(appliances)).appliances).toBeGreaterThanOrEqual(appliances);
});
