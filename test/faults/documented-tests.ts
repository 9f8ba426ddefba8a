import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Reporter, TestModule, Vitest } from "vitest/node";

const PAGE = new URL("../../docs/reference/faults.md", import.meta.url);

interface DocumentedFault {
  readonly fault: number;
  /** The tests that show it. `name`: of a test or a suite; in place of a test's table, `file` has its data. */
  readonly links: readonly { readonly name: string; readonly file: string }[];
}

/** The rows of the table in docs/reference/faults.md, in order. */
export function documentedFaults(): readonly DocumentedFault[] {
  return Array.from(
    readFileSync(PAGE, "utf8").matchAll(/^\| (\d+) \|.*\| ([^|]*) \|$/gm),
    ([, fault, shownBy = ""]) => ({
      fault: Number(fault),
      links: Array.from(shownBy.matchAll(/\[([^\]]*)\]\(([^)]*)\)/g), ([, name = "", path = ""]) => ({
        name,
        file: fileURLToPath(new URL(path, PAGE)),
      })),
    }),
  );
}

/**
 * A reporter that fails the run if docs/reference/faults.md names a test that did not run in its file. Files that failed or did not run are
 * not considered, and neither is a run of single tests (`-t`).
 */
export function createDocumentedTests(): Reporter {
  let vitest: Vitest | undefined;
  return {
    onInit(started) {
      vitest = started;
    },
    onTestRunEnd(modules) {
      if (vitest === undefined || vitest.getGlobalTestNamePattern() !== undefined) return;
      const missing = missingTests(modules);
      if (missing.length === 0) return;
      vitest.logger.error(`docs/reference/faults.md names tests that did not run:\n${missing.join("\n")}`);
      process.exitCode = 1;
    },
  };
}

function missingTests(modules: readonly TestModule[]): readonly string[] {
  const passed = modules.filter((module) => module.state() === "passed");
  const ran = new Map(passed.map((module) => [module.moduleId, namesIn(module)]));
  return documentedFaults().flatMap(({ fault, links }) =>
    links
      .filter(({ name, file }) => ran.get(testFileOf(file))?.some((each) => isNamed(each, name)) === false)
      .map(({ name, file }) => `fault ${fault}: "${name}" in ${file}`),
  );
}

/** The names of the tests that ran, and of their suites. */
function namesIn({ children }: TestModule): readonly string[] {
  return [...children.allTests("passed")].flatMap(({ fullName }) => fullName.split(" > "));
}

/** `failing-polls.ts` has the table of `failing-polls.test.ts`. */
function testFileOf(file: string): string {
  return file.replace(/(?<!\.test)\.ts$/, ".test.ts");
}

/** Whether a test's name contains a documented one, in which `%s` and `$name` stand for values. */
function isNamed(test: string, documented: string): boolean {
  const texts = documented.split(/%[a-z]|\$\w+/).map((text) => text.replaceAll(/\W/g, String.raw`\$&`));
  return new RegExp(texts.join(".*"), "s").test(test);
}
