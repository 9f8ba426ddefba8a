import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const linter = join(root, "node_modules/oxlint/bin/oxlint");

/** What a file of each folder must not import; written from the file's own folder. */
const FORBIDDEN: readonly (readonly [file: string, specifier: string])[] = [
  ["src/api/x.ts", "../config/secret.ts"],
  ["src/api/x.ts", "../log.ts"],
  ["src/api/x.ts", "../net/listening.ts"],
  ["src/net/x.ts", "../config/secret.ts"],
  ["src/net/x.ts", "../log.ts"],
  ["src/config/x.ts", "../api/json.ts"],
  ["src/config/yaml/x.ts", "../../api/json.ts"],
  ["src/config/yaml/x.ts", "../../exporter.ts"],
  ["src/polling/x.ts", "../fleet/fleet.ts"],
  ["src/polling/x.ts", "./../metrics/self.ts"],
  ["src/polling/client/x.ts", "../../fleet/fleet.ts"],
  ["src/polling/client/x.ts", "../../observer.ts"],
  ["src/fleet/x.ts", "../polling/runner.ts"],
  ["src/fleet/x.ts", "../polling/client/client.ts"],
  ["src/fleet/x.ts", "../polling/a-new-file.ts"],
  ["src/fleet/x.ts", "../metrics/exposition.ts"],
  ["src/metrics/x.ts", "../fleet/fleet.ts"],
  ["src/metrics/x.ts", "../fleet/a-new-file.ts"],
  ["src/metrics/families/x.ts", "../../fleet/groups.ts"],
  ["src/metrics/x.ts", "../polling/poll.ts"],
  ["src/metrics/x.ts", "../web/server.ts"],
  ["src/status/x.ts", "../fleet/fleet.ts"],
  ["src/status/problems/x.ts", "../../fleet/a-new-file.ts"],
  ["src/status/x.ts", "../polling/a-new-file.ts"],
  ["src/status/problems/x.ts", "../../metrics/family.ts"],
  ["src/status/x.ts", "../web/html.ts"],
  ["src/status/x.ts", "../exporter.ts"],
  ["src/fleet/x.ts", "../status/schema.ts"],
  ["src/metrics/x.ts", "../status/schema.ts"],
  ["src/polling/x.ts", "../status/schema.ts"],
  ["src/web/x.ts", "../fleet/fleet.ts"],
  ["src/web/x.ts", "../fleet/a-new-file.ts"],
  ["src/web/x.ts", "../polling/failure.ts"],
  ["src/web/x.ts", "../metrics/exposition.ts"],
  ["src/web/x.ts", "../exporter.ts"],
  ["src/web/x.ts", "../page/page.ts"],
  ["src/status/x.ts", "../page/page.ts"],
  ["src/page/x.ts", "./client/main.ts"],
  ["src/page/x.ts", "../web/reply.ts"],
  ["src/page/x.ts", "../exporter.ts"],
  ["src/page/view/x.ts", "../client/merge.ts"],
  ["src/page/view/x.ts", "../page.ts"],
  ["src/page/view/x.ts", "../../web/reply.ts"],
  ["src/page/view/x.ts", "../../log.ts"],
  ["src/page/view/x.ts", "../../status/problems.ts"],
  ["src/page/client/x.ts", "../assets.ts"],
  ["src/page/client/x.ts", "../view/html.ts"],
  ["src/page/client/x.ts", "../../status/schema.ts"],
  ["src/page/client/x.ts", "node:crypto"],
  ["src/web-config/x.ts", "../web/server.ts"],
  ["src/web-config/x.ts", "../log.ts"],
  ["src/config/x.ts", "../web-config/load.ts"],
  ["src/config/x.ts", "../net/listening.ts"],
  ["src/polling/x.ts", "../net/listening.ts"],
  ["src/fleet/x.ts", "../net/listening.ts"],
  ["src/metrics/x.ts", "../net/listening.ts"],
  ["src/web-config/x.ts", "../net/listening.ts"],
  ["src/metrics/x.ts", "../web-config/load.ts"],
  ["src/appliance/x.ts", "../polling/poll.ts"],
  ["src/appliance/x.ts", "../exporter.ts"],
  ["src/demo/x.ts", "../fleet/fleet.ts"],
  ["src/demo/x.ts", "../cli/run.ts"],
  ["src/exporter.ts", "./cli/run.ts"],
  ["src/cli/x.ts", "../main.ts"],
  ["src/web/x.ts", "node:process"],
  ["src/cli/x.ts", "node:process"],
  ["monitoring/grafana/dashboard/x.ts", "../../../src/metrics/family.ts"],
  ["monitoring/grafana/dashboard/rows/x.ts", "../../../../test/support/samples.ts"],
  ["monitoring/grafana/dashboard/x.ts", "node:process"],
];

/** Some of what they do import. */
const ALLOWED: readonly (readonly [file: string, specifier: string])[] = [
  ["src/config/yaml/x.ts", "../errors.ts"],
  ["src/polling/x.ts", "../api/vrrp-list.ts"],
  ["src/polling/client/x.ts", "../failure.ts"],
  ["src/polling/client/x.ts", "../../config/config.ts"],
  ["src/fleet/x.ts", "../polling/observation.ts"],
  ["src/metrics/families/x.ts", "../family.ts"],
  ["src/metrics/families/x.ts", "../../fleet/snapshot.ts"],
  ["src/metrics/x.ts", "../polling/events.ts"],
  ["src/status/x.ts", "../fleet/changes.ts"],
  ["src/status/problems/x.ts", "../schema.ts"],
  ["src/web/x.ts", "../status/schema.ts"],
  ["src/page/x.ts", "../status/schema.ts"],
  ["src/page/x.ts", "./view/html.ts"],
  ["src/page/view/x.ts", "../../status/schema.ts"],
  ["src/page/client/x.ts", "../view/time.ts"],
  ["src/page/client/x.ts", "./merge.ts"],
  ["src/web/x.ts", "../fleet/snapshot.ts"],
  ["src/web/x.ts", "../web-config/web-config.ts"],
  ["src/web/x.ts", "../net/listening.ts"],
  ["src/appliance/x.ts", "../net/listening.ts"],
  ["src/web-config/x.ts", "../config/yaml/file.ts"],
  ["src/appliance/x.ts", "../config/secret.ts"],
  ["src/demo/x.ts", "../exporter.ts"],
  ["src/cli/x.ts", "../exporter.ts"],
  ["src/exporter.ts", "./web/server.ts"],
  ["monitoring/grafana/dashboard/rows/x.ts", "../panel.ts"],
];

const text = (specifier: string) =>
  `import { x } from "${specifier}";\nx();\nexport { y } from "${specifier}";\n`;

interface Report {
  readonly diagnostics: readonly { readonly code: string; readonly filename: string }[];
}

const CASES = [...FORBIDDEN, ...ALLOWED];
let complaints: ReadonlyMap<string, number>;

/** Each case is a project of its own, whose only source is its file; the linter looks at all of them at once. */
beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), "import-direction-"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [nth, [file, specifier]] of CASES.entries()) {
    const project = join(folder, "cases", String(nth));
    await mkdir(dirname(join(project, file)), { recursive: true });
    await cp(join(root, ".oxlintrc.json"), join(project, ".oxlintrc.json"));
    await writeFile(join(project, file), text(specifier));
  }
  const run = promisify(execFile)(process.execPath, [linter, "--format=json", "cases"], {
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  const { stdout } = await run.catch((error: { readonly stdout: string }) => error);
  await rm(folder, { recursive: true });
  const report: Report = JSON.parse(stdout);
  const refused = report.diagnostics.filter(({ code }) => code.includes("no-restricted-imports"));
  complaints = countBy(refused.map(({ filename }) => filename.split("/")[1] ?? ""));
});

function countBy(names: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** How often the linter complains: once for the import, once for the export. */
function complaintsOf(file: string, specifier: string): number {
  const nth = CASES.findIndex((each) => each[0] === file && each[1] === specifier);
  return complaints.get(String(nth)) ?? 0;
}

test.each(FORBIDDEN)("%s may not import %s", (file, specifier) => {
  expect(complaintsOf(file, specifier)).toBe(2);
});

test.each(ALLOWED)("%s may import %s", (file, specifier) => {
  expect(complaintsOf(file, specifier)).toBe(0);
});
