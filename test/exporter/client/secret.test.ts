import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { hangFile } from "../../support/hanging-file.ts";
import { answering, clientOf, LONG_MS, OK, serve, shortly } from "./support.ts";

const REFUSED = "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n";

function passwordFile(): string {
  const directory = mkdtempSync(join(tmpdir(), "secret-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, "password");
}

async function clientWithFile(path: string, answer = OK) {
  const server = await serve(answering(answer));
  const basicAuth = { username: "monitor", password: { kind: "file", path } } as const;
  return { server, client: clientOf(`https://127.0.0.1:${server.port}`, { http: { basicAuth } }) };
}

test("a missing, endlessly linked or empty password file makes the poll fail as secret, and nothing is sent", async () => {
  const path = passwordFile();
  const { server, client } = await clientWithFile(path);
  expect(shortly(await client.get("/x", LONG_MS))).toBe("secret");
  symlinkSync(path, path);
  expect(shortly(await client.get("/x", LONG_MS))).toBe("secret");
  rmSync(path);
  writeFileSync(path, "\r\n");
  expect(shortly(await client.get("/x", LONG_MS))).toBe("secret");
  expect(server.connections()).toBe(0);
});

test.skipIf(process.platform !== "linux")(
  "an I/O error of the password file makes the poll fail as local, and the next one tries again",
  async () => {
    const path = passwordFile();
    // Reading it is an I/O error.
    symlinkSync("/proc/self/mem", path);
    const { server, client } = await clientWithFile(path);
    expect(shortly(await client.get("/x", LONG_MS))).toBe("local");
    expect(server.connections()).toBe(0);
    rmSync(path);
    writeFileSync(path, "hunter2");
    expect(shortly(await client.get("/x", LONG_MS))).toBe("{}");
  },
);

test("a changed password is used from the next poll on, and counts as new credentials", async () => {
  const path = passwordFile();
  writeFileSync(path, "old\n");
  const { server, client } = await clientWithFile(path, REFUSED);
  expect(shortly(await client.get("/x", LONG_MS))).toBe("auth");
  expect(await client.hasNewCredentials(LONG_MS)).toBe(false);
  writeFileSync(path, "new\n");
  await eventually(async () => expect(await client.hasNewCredentials(LONG_MS)).toBe(true));
  expect(shortly(await client.get("/x", LONG_MS))).toBe("auth");
  const sent = server.requests.map(({ head }) => /authorization: Basic (\S+)/i.exec(head)?.[1] ?? "");
  expect(sent.map((base64) => Buffer.from(base64, "base64").toString())).toEqual([
    "monitor:old",
    "monitor:new",
  ]);
});

test("an unreadable file does not count as new credentials", async () => {
  const path = passwordFile();
  writeFileSync(path, "old\n");
  const { client } = await clientWithFile(path, REFUSED);
  await client.get("/x", LONG_MS);
  rmSync(path);
  expect(await client.hasNewCredentials(LONG_MS)).toBe(false);
});

test.skipIf(process.platform !== "linux")(
  "a deadline that passes while the password is read is secret, and nothing is sent afterwards",
  async () => {
    const path = passwordFile();
    writeFileSync(path, "late");
    const { server, client } = await clientWithFile(path);
    const release = await hangFile(path);
    expect(shortly(await client.get("/x", 50))).toBe("secret");
    await release();
    expect(shortly(await client.get("/y", LONG_MS))).toBe("{}");
    expect(server.requests.map(({ path: requested }) => requested)).toEqual(["/y"]);
  },
);
