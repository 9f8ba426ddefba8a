import { execFile } from "node:child_process";
import { cp, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { onTestFinished } from "vitest";

const execute = promisify(execFile);
const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
/** What lies beside the exporter: packages, and its page and threads, which the build makes of its own files. */
const BESIDE = ["node_modules", "dist", "tsconfig.json", "package.json"];

/** The source of the exporter without the other wings, in a folder of its own. */
export interface ExporterCopy {
  readonly folder: string;
  /** Compiles it together with the program. */
  compile(): Promise<void>;
  /** Runs the program; returns what it prints. */
  run(): Promise<string>;
}

/** Copies the exporter, and adds `program.ts` to start it. */
export async function copyExporter(program: string): Promise<ExporterCopy> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-alone-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const room of ["exporter", "support"])
    await cp(join(REPOSITORY, "src", room), join(folder, "src", room), { recursive: true });
  for (const name of BESIDE) await symlink(join(REPOSITORY, name), join(folder, name));
  await writeFile(join(folder, "program.ts"), program);
  const client = "src/exporter/page/client";
  const tsconfig = { extends: "./tsconfig.json", include: ["src", "program.ts"], exclude: [client] };
  await writeFile(join(folder, "tsconfig.alone.json"), JSON.stringify(tsconfig));
  const compiler = join(REPOSITORY, "node_modules/typescript/bin/tsc");
  const node = async (...argv: readonly string[]): Promise<string> =>
    (await execute(process.execPath, argv, { cwd: folder })).stdout;
  return {
    folder,
    compile: async () => void (await node(compiler, "--noEmit", "-p", "tsconfig.alone.json")),
    run: () => node("--import", "tsx", "program.ts"),
  };
}
