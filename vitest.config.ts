import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { createDocumentedTests } from "./test/faults/documented-tests.ts";
import { pathOf, UNPACKED_SUITES, type Suite } from "./test/support/tool.ts";

/** Tests that need the programs of scripts/install-test-tools.sh, or minutes. */
const EXTRA = ["test/**/*.extra.test.ts", "test/browser/**/*.test.ts"];
/** Installable packages and the image, which are made once. */
const PACKAGING = ["test/packaging/**/*.extra.test.ts"];
const E2E = ["test/e2e/**/*.extra.test.ts"];
/** What only a release plays: every case, of which each change plays some. */
const RELEASE = ["test/**/*.release.test.ts"];
/** Minutes of promtool: of the oldest and the newest version. */
const SCENARIOS = ["test/monitoring/rules.extra.test.ts"];
/** Those of the newest version. Each version checks their templates, and the lab sends them with the oldest one, too. */
const TEXTS = ["test/monitoring/{basic,probes,texts}.extra.test.ts"];
/** What other programs load or answer, with each version of them: docs/reference/compatibility.md. */
const VERSIONED = [
  "test/appliance/keepalived/real.extra.test.ts",
  "test/exporter/metrics/promtool.extra.test.ts",
  "test/monitoring/{alertmanager,prometheus,receivers}.extra.test.ts",
  ...SCENARIOS,
  ...TEXTS,
];

/** Begin before others, in this order, so that none of them runs alone at the end. */
const LONG = [
  "test/e2e/alerts.release.test.ts",
  "test/monitoring/rules.release.test.ts",
  "test/monitoring/rules.extra.test.ts",
  "test/faults/costly-answers.release.test.ts",
  "test/e2e/alerts.extra.test.ts",
  "test/exporter/story/keepalived-causes.extra.test.ts",
  "test/faults/journal.test.ts",
  "test/faults/configuration.test.ts",
  "test/faults/process.test.ts",
  "test/faults/load.test.ts",
  "test/faults/failing-polls.test.ts",
  "test/exporter/web/maintenance.test.ts",
  "test/secrets.test.ts",
];
/** `LONG.length` for others. */
const rankOf = ({ moduleId }: TestSpecification) => {
  const rank = LONG.findIndex((file) => moduleId.endsWith(file));
  return rank === -1 ? LONG.length : rank;
};

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- a method of vitest, which changes no array
    const sorted = await super.sort(files);
    // Only files of one project share a process.
    return sorted.toSorted(
      (one, other) => rankOf(one) - rankOf(other) || one.project.name.localeCompare(other.project.name),
    );
  }
}

const shared = {
  setupFiles: ["test/support/end-with-runner.ts", "test/support/wait-less-than-tests.ts"],
  // Five times what a test may take on a quiet machine, as a busy one is up to five times slower. Tests that take longer say so.
  testTimeout: 20_000,
  hookTimeout: 20_000,
  expect: { poll: { timeout: 15_000 } },
  // Tests of a file that run at once wait for processes and for time.
  maxConcurrency: 10,
  // The names of tests, and what they compare, are never shortened.
  chaiConfig: { truncateThreshold: 0 },
  // Modules keep no state, so files may share them: a process and the modules anew cost each file a second.
  isolate: false,
};

/** Tests that start browsers, monitoring systems or machines. */
const slow = {
  ...shared,
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
  // Two of them, of the lab and of keepalived, wait for minutes.
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
};

const newest = UNPACKED_SUITES.at(-1);

/** Of the tests with versions, what this suite leaves out. */
function leftOutOf(suite: Suite | undefined): readonly string[] {
  if (suite === newest) return [];
  return suite === undefined ? TEXTS : [...SCENARIOS, ...TEXTS];
}

/** Each change is tested with the oldest and the newest versions, a release with those between, too. */
function nameOf(suite: Suite | undefined): string {
  if (suite === undefined) return "versions";
  return suite === newest ? `versions-${suite}` : `release-${suite}`;
}

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
          exclude: [...EXTRA, ...RELEASE],
        },
      },
      { test: { ...slow, name: "extra", include: EXTRA, exclude: [...PACKAGING, ...VERSIONED, ...E2E] } },
      ...[undefined, ...UNPACKED_SUITES].map((suite) => ({
        test: {
          ...slow,
          name: nameOf(suite),
          include: VERSIONED,
          exclude: [...leftOutOf(suite)],
          env: { PATH: pathOf(suite) },
        },
      })),
      {
        test: {
          ...slow,
          name: "packaging",
          include: PACKAGING,
          globalSetup: ["test/packaging/prepare.ts"],
        },
      },
      {
        test: {
          ...slow,
          name: "release",
          include: RELEASE,
          env: { PATH: pathOf(newest) },
          maxConcurrency: 64,
          globalSetup: ["test/packaging/prepare.ts"],
        },
      },
      // Not among the tests of CI: npm run lab:planned.
      { test: { ...slow, name: "lab", include: ["test/e2e/**/*.lab.ts"], maxConcurrency: 64 } },
      // All cases run at once, and their processes go before all others.
      { test: { ...slow, name: "e2e", include: E2E, maxConcurrency: 64 } },
    ],
  },
});
