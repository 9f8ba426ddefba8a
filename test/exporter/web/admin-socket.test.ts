import { chmod, chown, lstat, readdir, readFile, rename, rm } from "node:fs/promises";
import { once } from "node:events";
import { request, type OutgoingHttpHeaders, type RequestListener } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startAdminSocket } from "../../../src/exporter/web/admin-socket.ts";
import { createFolder } from "../config/folder.ts";
import { ask, routes, serve } from "./support.ts";

/** A socket in a new folder, which stops when the test ends. */
async function started(handler: RequestListener = routes(), given?: string) {
  const path = given ?? join(await createFolder({}), "admin.sock");
  const socket = await startAdminSocket(path, handler);
  if (socket.ok) onTestFinished(socket.stop);
  return { path, socket };
}

/** The status and the text of an answer over the socket. */
function askAt(
  socketPath: string,
  path: string,
  options: { method?: string; headers?: OutgoingHttpHeaders | readonly string[]; body?: string } = {},
): Promise<readonly [status: number, text: string]> {
  const { body, headers = {}, ...rest } = options;
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, agent: false, headers, ...rest }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      response.on("end", () => resolve([response.statusCode ?? 0, text]));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

test("the socket is for its owner and its group, leaves nothing beside it, and is gone after a stop", async () => {
  const { path, socket } = await started();
  expect(socket.ok).toBe(true);
  const { mode } = await lstat(path);
  expect((mode & 0o777).toString(8)).toBe("660");
  expect(await readdir(join(path, ".."))).toEqual(["admin.sock"]);
  expect((await askAt(path, "/-/healthy"))[0]).toBe(200);
  if (socket.ok) await socket.stop();
  expect(await readdir(join(path, ".."))).toEqual([]);
});

test.runIf(process.getuid?.() === 0)(
  "the socket has the group of the exporter, not that of its folder",
  async () => {
    const folder = await createFolder({});
    await chown(folder, 0, 4321);
    await chmod(folder, 0o2755);
    const { path } = await started(routes(), join(folder, "admin.sock"));
    expect((await lstat(path)).gid).toBe(process.getgid?.());
  },
);

test.each(["/", "/metrics", "/config", "/sd/websites", "/api/v1/history", "/runbook", "/-/healthy/x"])(
  "%s is not served: commands need no more than their routes",
  async (route) => {
    const { path } = await started();
    expect(await askAt(path, route)).toEqual([404, "The local socket serves commands only\n"]);
  },
);

test.each([
  [{ origin: "https://exporter.example" }, 403],
  [{ "sec-fetch-site": "same-origin" }, 403],
  [["host", "localhost", "host", "exporter.example"], 400],
] as const)("a request with the headers %j is refused, also one that only reads", async (headers, status) => {
  const { path } = await started();
  const [got] = await askAt(path, "/api/v1/fleet", { headers });
  expect(got).toBe(status);
});

test("a reload needs no flag over the socket, and one over HTTP", async () => {
  let reloads = 0;
  const handler = routes({
    reload: async () => {
      reloads += 1;
      return { ok: true };
    },
  });
  const { path } = await started(handler);
  expect((await ask(await serve(handler), "/-/reload", { method: "POST" })).status).toBe(403);
  expect(reloads).toBe(0);
  expect(await askAt(path, "/-/reload", { method: "POST" })).toEqual([200, "Reloaded\n"]);
  expect(reloads).toBe(1);
});

const START = { id: "patchnight", clusters: ["ams"], for: "30m", comment: "x" };

test("planned work needs no flag and no password; nothing else than JSON changes it", async () => {
  const { path } = await started();
  const post = (headers: OutgoingHttpHeaders) =>
    askAt(path, "/api/v1/maintenance", { method: "POST", headers, body: JSON.stringify({ start: START }) });
  expect(await post({ "content-type": "text/plain" })).toEqual([
    415,
    "Expected content-type: application/json\n",
  ]);
  // There is no such cluster: the request was accepted.
  expect(await post({ "content-type": "application/json" })).toEqual([
    422,
    "there is no enabled cluster ams\n",
  ]);
});

test("a socket that a killed process left is replaced", async () => {
  const folder = await createFolder({});
  const path = join(folder, "admin.sock");
  const server = createServer().listen(join(folder, "other"));
  await once(server, "listening");
  await rename(join(folder, "other"), path);
  server.close();
  await once(server, "close");
  expect((await lstat(path)).isSocket()).toBe(true);
  expect((await started(routes(), path)).socket.ok).toBe(true);
  expect((await askAt(path, "/-/healthy"))[0]).toBe(200);
});

test("a socket that answers stays, and is an error", async () => {
  const { path } = await started();
  const { socket } = await started(routes(), path);
  expect(socket).toEqual({
    ok: false,
    message: "another process serves there: stop it, or choose another path",
  });
  expect((await askAt(path, "/-/healthy"))[0]).toBe(200);
  expect(await readdir(join(path, ".."))).toEqual(["admin.sock"]);
});

test("a file that is no socket stays, and is an error, as is a folder that is not there", async () => {
  const folder = await createFolder({ file: "kept\n" });
  expect((await started(routes(), join(folder, "file"))).socket).toEqual({
    ok: false,
    message: "a file that is not a socket is there: remove it, or choose another path",
  });
  expect(await readFile(join(folder, "file"), "utf8")).toBe("kept\n");
  expect((await started(routes(), join(folder, "no", "admin.sock"))).socket).toEqual({
    ok: false,
    message: `there is no folder ${join(folder, "no")}: create it for the user of the exporter`,
  });
});

test("a stop leaves the socket of another exporter that has replaced its own", async () => {
  const { path, socket } = await started();
  await rm(path);
  await started(routes(), path);
  if (socket.ok) await socket.stop();
  expect((await askAt(path, "/-/healthy"))[0]).toBe(200);
});

test("a stop ends connections that are idle, and waits for a response", async () => {
  const waiting: (() => void)[] = [];
  const { path, socket } = await started((_, response) => void waiting.push(() => response.end("done")));
  const answer = askAt(path, "/api/v1/fleet");
  await expect.poll(() => waiting.length).toBe(1);
  const stopped = socket.ok ? socket.stop() : undefined;
  waiting[0]?.();
  expect(await answer).toEqual([200, "done"]);
  await stopped;
});
