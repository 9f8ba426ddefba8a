import type { Reporter } from "vitest/node";

/** Says at the end of each test that skipped itself why it did: which tool it has not found, say. */
export const tellSkipped: Reporter = {
  onTestRunEnd: (modules) => {
    for (const { children, relativeModuleId } of modules) {
      for (const test of children.allTests("skipped")) {
        const result = test.result();
        if (result.state !== "skipped" || result.note === undefined) continue;
        process.stdout.write(`skipped: ${relativeModuleId} > ${test.fullName}: ${result.note}\n`);
      }
    }
  },
};
