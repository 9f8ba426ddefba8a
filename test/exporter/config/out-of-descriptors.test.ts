import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createAuthority } from "../../support/certificates.ts";
import { createFolder } from "./folder.ts";

const WORKER = fileURLToPath(new URL("out-of-descriptors-worker.ts", import.meta.url));
const CONFIG = `
config_files: ["d/*.yaml"]
http_client:
  basic_auth: { username: monitor, password_file: password }
  tls_config: { ca_file: ca.pem }
`;

/** The output of the worker. */
async function reportOfWorker(): Promise<unknown> {
  const folder = await createFolder({
    "config.yaml": CONFIG,
    "d/a.yaml": 'appliances: [{ name: a, base_url: "https://192.0.2.1" }]\n',
    "ca.pem": (await createAuthority()).cert,
    password: "hunter2",
  });
  const worker = [process.execPath, "--import", import.meta.resolve("tsx"), WORKER];
  const limited = ["-c", 'ulimit -n 128 && exec "$@"', "sh", ...worker];
  // The cache writes files while the worker runs, and frees their descriptors again.
  const env = { ...process.env, TSX_DISABLE_CACHE: "1" };
  const { stdout } = await promisify(execFile)("sh", limited, { cwd: folder, env });
  return JSON.parse(stdout);
}

test("failures to read files and to look up names without descriptors are not remembered", async () => {
  expect(await reportOfWorker()).toEqual({
    // The C library may need no file.
    lookup: { without: expect.stringMatching(/^(ENOTFOUND|found)$/), after: "found" },
    password: {
      without: { ok: false, message: "cannot be read (EMFILE)", isSystemError: true },
      after: "hunter2",
    },
    watch: { without: [], after: [] },
    reload: { without: ["config.yaml: cannot be read (EMFILE)"], after: ["loaded"] },
  });
});
