import type { Build } from "../../src/support/build.ts";

/** A build of one instant, whatever runs the test. */
export const BUILD: Build = {
  revision: "225c61122d88b01d1f0eaaee0e05b6f3e0567ac0",
  branch: "main",
  date: "20260301-07:53:32",
  nodeVersion: "v20.0.0",
  platform: "linux/x64",
};
