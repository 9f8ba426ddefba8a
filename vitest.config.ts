import { defineConfig } from "vitest/config";
import { tellSkipped } from "./test/support/tell-skipped.ts";

/** What is not the program itself, so that one Node is enough to try it: rules, dashboards, pages in browsers, documents. */
const SURROUNDINGS = ["test/browser", "test/monitoring", "test/project", "test/readme"].map(
  (folder) => `${folder}/**/*.test.ts`,
);
const setupFiles = ["test/support/end-with-runner.ts"];
// A test waits for its event, however slow the machine is: only a hang reaches these.
const timeouts = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};

export default defineConfig({
  test: {
    globalSetup: ["test/support/setup-tools.ts"],
    // Most tests wait for sockets and processes of their own, so that two cores bear three of them.
    maxWorkers: 3,
    teardownTimeout: 60_000,
    reporters: ["default", tellSkipped],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/main.ts"],
      reporter: ["text-summary", "html"],
    },
    projects: [
      {
        test: {
          name: "program",
          include: ["test/**/*.test.ts"],
          exclude: ["test/e2e/**", ...SURROUNDINGS],
          setupFiles,
          ...timeouts,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "surroundings",
          include: SURROUNDINGS,
          setupFiles,
          ...timeouts,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          globalSetup: ["test/e2e/build.ts"],
          setupFiles,
          // All cases at once, and when the other tests are over: times are measured.
          maxConcurrency: 64,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
