import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { expect } from "vitest";
import { createAuthority } from "../support/certificates.ts";
import { eventually } from "../support/eventually.ts";
import { HASH } from "../web/support.ts";
import { healthy } from "./behaviours.ts";
import { entry, EVERY_SECOND, test, type Stage } from "./stage.ts";

/** The fingerprint of the certificate that a new connection is shown. */
async function presentedBy(stage: Stage, port: number): Promise<string | undefined> {
  const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
  stage.cleanUp(() => socket.destroy());
  await once(socket, "secureConnect");
  return socket.getPeerX509Certificate()?.fingerprint256;
}

function fingerprintOf(cert: string): string {
  return new X509Certificate(cert).fingerprint256;
}

function basic(credentials: string) {
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** A quarter of a second of work or so for one password. */
const DEAR = `$2b$12$${".".repeat(53)}`;
/** As many as may wait. */
const GUESSES = 100;

test.concurrent("fault 30: a pair that does not match, at a reload: the old pair stays, and so does the rest", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const authority = await createAuthority();
  const [old, next] = [await authority.issue(), await authority.issue()];
  const configWith = (...names: readonly string[]) =>
    JSON.stringify({
      polling: { vrrp: EVERY_SECOND },
      appliances: names.map((name) => entry(name, server)),
    });
  const exporter = await stage.exporter({
    config: configWith("a"),
    web: "tls_server_config: { cert_file: server.pem, key_file: server.key }",
    files: { "server.pem": old.cert, "server.key": old.key },
  });
  expect(await presentedBy(stage, exporter.port)).toBe(fingerprintOf(old.cert));

  await exporter.write("config.yaml", configWith("a", "b"));
  await exporter.write("server.pem", next.cert);
  expect(await exporter.reload()).toBe(false);
  expect(await presentedBy(stage, exporter.port)).toBe(fingerprintOf(old.cert));
  const error = exporter.log.lines.find(({ level }) => level === "error");
  expect(error?.detail).toMatch(
    /web\.yaml:1:45: tls_server_config\.key_file: the key does not match the certificate/,
  );
  const before = server.requests.length;
  await eventually(() => expect(server.requests.length).toBeGreaterThanOrEqual(before + 2));
  expect(exporter.log.lines.filter(({ msg }) => msg === "configuration reloaded")).toEqual([]);

  await exporter.write("server.key", next.key);
  expect(await exporter.reload()).toBe(true);
  expect(await presentedBy(stage, exporter.port)).toBe(fingerprintOf(next.cert));
});

test.concurrent("fault 33: passwords are guessed at /metrics: one is checked at a time, polls read theirs, and who is known is let in", async ({
  stage,
}) => {
  const server = await stage.server(healthy);
  const http = { basic_auth: { username: "monitor", password_file: "password" } };
  const program = await stage.program(
    {
      config: { polling: { vrrp: EVERY_SECOND }, http_client: http, appliances: [entry("a", server)] },
      files: { password: "p" },
      web: `basic_auth_users: { known: $2b$${HASH}, dear: "${DEAR}" }`,
    },
    {
      args: ["--web.config.file=web.yaml"],
      headers: basic("known:correct horse"),
      // Password files are read and scrapes compressed in the same threads: two checks at once would leave none.
      env: { UV_THREADPOOL_SIZE: "2" },
    },
  );
  const guessing = new AbortController();
  stage.cleanUp(() => guessing.abort());
  const statuses: number[] = [];
  const guess = async (nth: number): Promise<void> => {
    for (let again = 0; !guessing.signal.aborted; again += 1) {
      const init = { headers: basic(`dear:${nth}-${again}`), signal: guessing.signal };
      const answer = await fetch(`${program.url}/metrics`, init).catch(() => undefined);
      if (answer !== undefined) statuses.push(answer.status);
    }
  };
  for (let nth = 0; nth < GUESSES; nth += 1) void guess(nth);
  await eventually(() => expect(statuses.length).toBeGreaterThan(0));

  // A new password each second, which must be read from its file.
  for (let nth = 0; nth < 5; nth += 1) {
    await writeFile(join(program.folder, "password"), `p${nth}`);
    const polled = server.requests.length;
    await eventually(async () => {
      expect(server.requests.length).toBeGreaterThan(polled);
      expect((await program.scrape()).value("appliance_up", { appliance: "a" })).toBe(1);
    });
  }
  // Refused, turned away while others are checked, or too slow: which of these is the machine's speed.
  expect(statuses).not.toContain(200);
});
