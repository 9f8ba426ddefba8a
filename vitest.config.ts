import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { createDocumentedTests } from "./test/faults/documented-tests.ts";
import { pathOf, UNPACKED_SUITES } from "./test/support/tool.ts";

/** Tests that need the programs of scripts/install-test-tools.sh, or minutes. */
const EXTRA = ["test/**/*.extra.test.ts", "test/browser/**/*.test.ts"];
/** Installable packages and the image; they share what is made before. */
const PACKAGING = ["test/packaging/**/*.extra.test.ts"];
const E2E = ["test/e2e/**/*.test.ts"];
/** Minutes of promtool. */
const SCENARIOS = ["test/monitoring/{probes,rules,texts}.extra.test.ts"];
/** What other programs load or answer, with each version of them: docs/compatibility.md. */
const VERSIONED = [
  "test/appliance/keepalived/real.extra.test.ts",
  "test/exporter/metrics/promtool.extra.test.ts",
  "test/monitoring/{alertmanager,prometheus}.extra.test.ts",
  ...SCENARIOS,
];

/** Begin before others, so that none of them runs alone at the end. */
const LONG = [
  "test/faults/costly-answers.extra.test.ts",
  "test/exporter/story/keepalived-causes.extra.test.ts",
];
const isLong = ({ moduleId }: TestSpecification) => LONG.some((file) => moduleId.endsWith(file));

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const others = files.filter((file) => !isLong(file));
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of vitest, which changes no array
    return [...files.filter(isLong), ...(await super.sort(others))];
  }
}

const shared = {
  setupFiles: ["test/support/end-with-runner.ts"],
  // Tests wait for events, however slow the machine is. Only a test that hangs reaches these limits.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
  // The names of tests, and what they compare, are never shortened.
  chaiConfig: { truncateThreshold: 0 },
  sequence: { groupOrder: 0 },
};

export default defineConfig({
  test: {
    globalSetup: ["test/support/build.ts"],
    // Most tests wait for sockets and processes, so two cores can run three files at a time.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    teardownTimeout: 60_000,
    reporters: ["default", createDocumentedTests()],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/main.ts"],
      reporter: ["text-summary", "html"],
    },
    projects: [
      {
        test: {
          ...shared,
          name: "program",
          include: ["test/**/*.test.ts"],
          exclude: [...EXTRA, ...E2E],
          // Modules keep no state, so files may share them: a process and the modules anew cost each file a second.
          isolate: false,
        },
      },
      { test: { ...shared, name: "extra", include: EXTRA, exclude: [...PACKAGING, ...VERSIONED] } },
      ...[undefined, ...UNPACKED_SUITES].map((suite) => ({
        test: {
          ...shared,
          name: suite === undefined ? "versions" : `versions-${suite}`,
          include: VERSIONED,
          // The oldest and the newest version are enough for these.
          exclude: suite === "trixie" ? SCENARIOS : [],
          env: { PATH: pathOf(suite) },
          // Beside the lab, whose processes go first and mostly wait.
          sequence: { groupOrder: 1 },
        },
      })),
      {
        test: {
          ...shared,
          name: "packaging",
          include: PACKAGING,
          globalSetup: ["test/packaging/prepare.ts"],
          // Building an image takes all cores: after the tests that wait for answers.
          sequence: { groupOrder: 2 },
        },
      },
      // Not among the tests of CI: npm run lab:planned.
      { test: { ...shared, name: "lab", include: ["test/e2e/**/*.lab.ts"], maxConcurrency: 64 } },
      {
        test: {
          ...shared,
          name: "e2e",
          include: E2E,
          // The lab measures times: all cases run at once, after the other tests.
          maxConcurrency: 64,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
