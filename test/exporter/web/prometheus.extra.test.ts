import { expect, onTestFinished, test } from "vitest";
import { createAuthority } from "../../support/certificates.ts";
import { eventually } from "../../support/eventually.ts";
import { startPrometheus } from "../../support/prometheus-server.ts";
import { HASH, startSecured } from "./support.ts";

test("Prometheus scrapes over TLS with a client certificate and basic_auth, but not without either", async () => {
  const authority = await createAuthority();
  const server = await authority.issue();
  const client = await authority.issue();
  const rules = "client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem";
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
    global: { scrape_interval: "5s", scrape_timeout: "5s" },
    scrape_configs: [
      scrape("both", pair, auth),
      scrape("certificate alone", pair, {}),
      scrape("password alone", {}, auth),
    ],
  };
  const prometheus = await startPrometheus(config, {
    "ca.pem": authority.cert,
    "client.pem": client.cert,
    "client.key": client.key,
  });
  onTestFinished(prometheus.stop);
  const ups = await eventually(async () => {
    const targets = await prometheus.targets();
    const healths = targets.map(({ health }) => health);
    if (healths.length < 3 || healths.includes("unknown")) throw new Error("not scraped yet");
    return targets;
  });
  expect(ups.map(({ health }) => health)).toEqual(["up", "down", "down"]);
  expect(ups[1]?.lastError).toBe("server returned HTTP status 401 Unauthorized");
});
