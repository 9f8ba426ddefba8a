import { X509Certificate } from "node:crypto";
import { expect } from "vitest";
import { systemClock } from "../../src/support/clock.ts";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { scrape } from "../support/exporter.ts";
import { startFaultServer } from "../support/fault-server.ts";
import { healthy } from "./behaviours.ts";
import { EVERY_SECOND, test } from "./stage.ts";
import { startRig } from "./rig.ts";

const HOUR_MS = 3_600_000;

test.concurrent("fault 50: a certificate replaced behind kept connections and sessions: its end and a pin's misfit show within the hour", async ({
  stage,
}) => {
  const authority = await createAuthority();
  const old = await authority.issue();
  const next = await authority.issue({ notAfter: new Date(Date.now() + 1000 * HOUR_MS) });
  const ticketKeys = Buffer.alloc(48, 1);
  const server = await startFaultServer(healthy, { ...old, ticketKeys });
  stage.cleanUp(server.stop);
  const base_url = `https://127.0.0.1:${server.port}`;
  const pinned = { tls_config: { certificate_sha256: [new X509Certificate(old.cert).fingerprint256] } };
  const folder = await stage.folder({
    config: {
      polling: { vrrp: EVERY_SECOND },
      http_client: { tls_config: { ca_file: "ca.pem" } },
      appliances: [
        { name: "trusted", base_url },
        { name: "pinned", base_url: `${base_url}/pinned`, http_client: pinned },
      ],
    },
    files: { "ca.pem": authority.cert },
  });
  let laterMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + laterMs };
  const rig = await startRig({ folder, clock });
  stage.cleanUp(rig.stop);
  const seen = async () => {
    const samples = await scrape(rig.url);
    const notAfter = "appliance_tls_certificate_not_after_timestamp_seconds";
    const failures = samples.all("appliance_poll_failure_info", { appliance: "pinned" });
    return {
      ends: samples.value(notAfter, { appliance: "trusted" }),
      isUp: samples.value("appliance_up", { appliance: "trusted" }),
      pinned: failures.map(({ labels }) => labels["reason"]),
    };
  };
  const until = (expected: Awaited<ReturnType<typeof seen>>) =>
    eventually(async () => expect(await seen()).toEqual(expected), { timeoutMs: 30_000 });
  await until({ ends: endOf(old.cert), isUp: 1, pinned: [] });

  server.secure({ ...next, ticketKeys });
  laterMs = HOUR_MS;
  await until({ ends: endOf(next.cert), isUp: 1, pinned: ["tls"] });
});

/** Unix time in seconds. */
function endOf(pem: string): number {
  return Date.parse(new X509Certificate(pem).validTo) / 1000;
}
