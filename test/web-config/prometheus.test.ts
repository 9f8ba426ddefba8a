import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { closedPort } from "../support/fault-server.ts";
import { folderOf, HASH, startSecured } from "./support.ts";

interface Targets {
  readonly data: {
    readonly activeTargets: readonly { readonly health: string; readonly lastError: string }[];
  };
}

async function startPrometheus(path: string, folder: string): Promise<string> {
  const port = await closedPort();
  const child = spawn(
    path,
    [
      "--config.file=prometheus.yml",
      "--storage.tsdb.path=data",
      `--web.listen-address=127.0.0.1:${port}`,
      "--log.level=error",
    ],
    { cwd: folder, stdio: "ignore" },
  );
  const ended = once(child, "exit");
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  return `http://127.0.0.1:${port}`;
}

test("a real Prometheus scrapes over TLS with a client certificate and basic_auth, and without either it does not", async ({
  skip,
}) => {
  const promtool = inject("promtool");
  if (!promtool.ok) {
    skip(promtool.reason);
    return;
  }
  const authority = await createAuthority();
  const server = await authority.issue();
  const client = await authority.issue({ hosts: ["prometheus.example"] });
  const rules =
    "client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem, client_allowed_sans: [prometheus.example]";
  const { port } = await startSecured(
    `tls_server_config: { cert_file: server.pem, key_file: server.key, ${rules} }
basic_auth_users: { monitor: $2b$${HASH} }
`,
    { "server.pem": server.cert, "server.key": server.key, "ca.pem": authority.cert },
  );
  const scrape = (job: string, tls: object, auth: object) => ({
    job_name: job,
    scheme: "https",
    tls_config: { ca_file: "ca.pem", ...tls },
    static_configs: [{ targets: [`127.0.0.1:${port}`] }],
    ...auth,
  });
  const pair = { cert_file: "client.pem", key_file: "client.key" };
  const auth = { basic_auth: { username: "monitor", password: "correct horse" } };
  const config = {
    global: { scrape_interval: "1s", scrape_timeout: "1s" },
    scrape_configs: [
      scrape("both", pair, auth),
      scrape("certificate alone", pair, {}),
      scrape("password alone", {}, auth),
    ],
  };
  const folder = await folderOf({
    "prometheus.yml": JSON.stringify(config),
    "ca.pem": authority.cert,
    "client.pem": client.cert,
    "client.key": client.key,
  });
  const url = await startPrometheus(join(dirname(promtool.path), "prometheus"), folder);
  const ups = await eventually(
    async () => {
      const answer = await fetch(`${url}/api/v1/targets`);
      const { data }: Targets = JSON.parse(await answer.text());
      const healths = data.activeTargets.map(({ health }) => health);
      if (healths.length < 3 || healths.includes("unknown")) throw new Error("not scraped yet");
      return data.activeTargets;
    },
    { timeoutMs: 25_000 },
  );
  expect(ups.map(({ health }) => health)).toEqual(["up", "down", "down"]);
  expect(ups[1]?.lastError).toBe("server returned HTTP status 401 Unauthorized");
});
