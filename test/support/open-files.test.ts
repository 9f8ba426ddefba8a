import { expect, test } from "vitest";
import {
  descriptorLimit,
  limitFor,
  openDescriptorLimit,
  shareDescriptors,
} from "../../src/support/open-files.ts";

const limits = (soft: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units     
Max cpu time              unlimited            unlimited            seconds   
Max open files            ${soft.padEnd(20)} 1048576              files     
`;

test.each([
  { text: limits("1024"), limit: 1024 },
  { text: limits("unlimited"), limit: Number.POSITIVE_INFINITY },
  { text: "", limit: 10_240 },
])("a limit of $limit is read", ({ text, limit }) => {
  expect(descriptorLimit(text)).toBe(limit);
});

test("the limit of this process can be read again and again", () => {
  const read = openDescriptorLimit();
  expect(read()).toBeGreaterThan(0);
  expect(read()).toBe(read());
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

test.each([2, 24, 1535, 1536, 10_000])(
  "the computed limit for %i appliances suffices, and one less does not",
  (appliances) => {
    const needed = limitFor(appliances);
    expect(shareDescriptors(needed).appliances).toBeGreaterThanOrEqual(appliances);
    expect(shareDescriptors(needed - 1).appliances).toBeLessThan(appliances);
  },
);
