import { expect } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { eventually } from "../support/eventually.ts";
import type { Behaviour, FaultServer } from "../support/fault-server.ts";
import { answer, healthy, LIST } from "./behaviours.ts";
import { entry, EVERY_SECOND, type Proof } from "./proof.ts";

/** Enters whoever knows this password, and nobody else. */
function enters(password: string): Behaviour {
  return ({ socket, onRequest }) =>
    onRequest(({ head }) => {
      const isRight = head.includes(basic(password));
      socket.write(isRight ? answer(LIST) : answer("{}", "401 Unauthorized"));
    });
}

function basic(password: string): string {
  return `authorization: Basic ${Buffer.from(`monitor:${password}`).toString("base64")}`;
}

function setupWith(server: FaultServer, password: string, more = {}) {
  const http_client = { basic_auth: { username: "monitor", password_file: "password" } };
  return {
    config: {
      polling: { vrrp: EVERY_SECOND, websites: EVERY_SECOND },
      http_client,
      appliances: [entry("a", server, more)],
    },
    files: { password },
  };
}

/** Seconds between requests. */
function gaps({ requests }: FaultServer): readonly number[] {
  return requests.slice(1).map(({ atMs }, index) => (atMs - (requests[index]?.atMs ?? 0)) / 1000);
}

async function untilPausedForSeconds(server: FaultServer): Promise<void> {
  // After the third refusal the pause is four seconds.
  await eventually(() => expect(server.requests.length).toBe(3), { timeoutMs: 15_000 });
  const [first = 0, second = 0] = gaps(server);
  expect(first).toBeGreaterThan(0.95);
  expect(second).toBeGreaterThan(1.95);
}

export const PROOFS_OF_PAUSES: readonly Proof[] = [
  {
    fault: 8,
    name: "refused credentials are tried ever less often, for all operations, until the password file changes",
    prove: async (stage) => {
      const server = await stage.server(enters("right"));
      const exporter = await stage.exporter(setupWith(server, "wrong", { websites: [1, 2] }));
      await untilPausedForSeconds(server);
      const refused = await exporter.scrape();
      expect(refused.value("appliance_exporter_polls_skipped_total", { reason: "backoff" })).toBeGreaterThan(
        0,
      );
      expect(server.requests.filter(({ path }) => path.endsWith("/test"))).toEqual([]);

      const changedMs = performance.now();
      await exporter.write("password", "right");
      await eventually(async () => expect((await exporter.scrape()).value("appliance_up")).toBe(1));
      expect((server.requests[3]?.atMs ?? Number.NaN) - changedMs).toBeLessThan(3500);
    },
  },
  {
    fault: 8,
    name: "refused credentials are tried again when the appliance's entry changes",
    prove: async (stage) => {
      const server = await stage.server(enters("right"));
      const setup = setupWith(server, "wrong");
      const exporter = await stage.exporter(setup);
      await untilPausedForSeconds(server);
      const changedMs = performance.now();
      const changed = { ...setup.config, appliances: [entry("a", server, { labels: { site: "x" } })] };
      await exporter.write("config.yaml", JSON.stringify(changed));
      expect(await exporter.reload()).toBe(true);
      const next = await eventually(() => server.requests[3] ?? expect.fail("no further request"));
      expect(next.atMs - changedMs).toBeLessThan(3500);
    },
  },
  {
    fault: 29,
    name: "a password file is trimmed, re-read when it changes, and `secret` while it is empty",
    prove: async (stage) => {
      const server = await stage.server(healthy);
      const exporter = await stage.exporter(setupWith(server, "first\r\n"));
      const isUp = async (): Promise<void> => expect((await exporter.scrape()).value("appliance_up")).toBe(1);
      await eventually(isUp);
      expect(server.requests[0]?.head).toContain(basic("first"));

      const before = server.requests.length;
      await exporter.write("password", "second\r\n");
      await eventually(() => expect(server.requests.length).toBeGreaterThan(before + 1));
      // One poll may have been under way when the file was written.
      expect(server.requests[before + 1]?.head).toContain(basic("second"));

      await exporter.write("password", "\n");
      await eventually(async () => {
        const failures = (await exporter.scrape()).all("appliance_poll_failure_info");
        expect(failures.map(({ labels }) => labels["reason"])).toEqual(["secret"]);
      });
      const asked = server.requests.length;
      await eventually(async () => {
        const polls = (await exporter.scrape()).value("appliance_poll_failures_total", { operation: "vrrp" });
        expect(polls).toBeGreaterThanOrEqual(2);
      });
      expect(server.requests.length).toBe(asked);
      await exporter.write("password", "second");
      await eventually(isUp);
      expect(exporter.log.text()).not.toMatch(/first|second/);
    },
  },
  {
    fault: 29,
    name: "a password file that is empty at the start is a configuration error",
    prove: async (stage) => {
      const folder = await stage.folder(setupWith(await stage.server(healthy), "\r\n"));
      const loaded = await loadConfig(`${folder}/config.yaml`);
      expect(loaded.ok ? [] : loaded.errors.map(({ path, message }) => `${path}: ${message}`)).toEqual([
        "http_client.basic_auth.password_file: cannot use this file: it is empty",
      ]);
    },
  },
];
