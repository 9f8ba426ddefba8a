import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

interface Form {
  readonly name: string;
  readonly description: string;
  readonly body: readonly {
    readonly type: string;
    readonly id?: string;
    readonly attributes: { readonly label?: string; readonly value?: string };
  }[];
}

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

const FORMS = ".github/ISSUE_TEMPLATE";
const read = (path: string) => readFileSync(path, "utf8");

test.each(readdirSync(FORMS).filter((name) => name !== "config.yml"))(
  "the form %s asks for texts, each with a label and an id of its own",
  (name) => {
    const { name: title, description, body }: Form = parse(read(join(FORMS, name)));
    expect([title, description]).toEqual([expect.any(String), expect.any(String)]);
    const asked = body.filter(({ type }) => type !== "markdown");
    expect(asked.filter(({ type, attributes }) => type !== "textarea" || !attributes.label)).toEqual([]);
    expect(new Set(asked.map(({ id }) => id)).size).toBe(asked.length);
  },
);

test("the workflow runs .ci/run, and makes what docs/reference/releasing.md publishes", () => {
  const { jobs }: Workflow = parse(read(".github/workflows/ci.yml"));
  const steps = Object.values(jobs).flatMap((job) => job.steps);
  expect(steps.filter(({ uses, run }) => (uses === undefined) === (run === undefined))).toEqual([]);
  const commands = steps.flatMap(({ run = "" }) => run.trim().split("\n"));
  expect(commands).toContain(".ci/run");
  expect(commands).toContain('BRANCH="$GITHUB_REF_NAME" npm run package');
  const named = commands.flatMap((command) => command.match(/\b[\w/]+\.(?:json|md)\b/g) ?? []);
  expect(named.filter((path) => path !== "notes.md" && !existsSync(path))).toEqual([]);
  const { scripts } = JSON.parse(read("package.json"));
  expect(scripts).toHaveProperty("package");
});
