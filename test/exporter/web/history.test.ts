import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test, vi, onTestFinished } from "vitest";
import { createHistory, type HistoryDeps, type HistoryQuery } from "../../../src/exporter/web/history.ts";
import { send } from "../../../src/exporter/web/reply.ts";
import { eventually } from "../../support/eventually.ts";
import { startTestExporter } from "../../support/exporter.ts";
import { ask, basic, connectTo, HASH, held, routes, serve, startSecured } from "./support.ts";

// Large histories are read and sent.
vi.setConfig({ testTimeout: 40_000 });

const PATH = "/api/v1/history";
const NOW_MS = Date.parse("2026-11-26T04:00:00Z");
const LINES = [
  '{"at":"2026-11-26T03:00:00.000Z","kind":"alive"}',
  '{"at":"2026-11-26T03:59:56.000Z","kind":"alive"}',
];

function historyOf(read: HistoryDeps["read"]) {
  return routes({ history: { read, wallMs: () => NOW_MS } });
}

/** Serves these lines, a batch each; lists what was asked for. */
async function serveLines(lines: readonly string[] = LINES) {
  const asked: HistoryQuery[] = [];
  const port = await serve(
    historyOf(async function* read(query) {
      asked.push(query);
      for (const line of lines) yield [line];
    }),
  );
  return { port, asked };
}

/** Compression makes it little shorter, so that few of them are more than a client that does not read has room for. */
const LONG_LINE = randomBytes(49_152).toString("base64");

/** Never ends, and counts. */
function createEndless() {
  const counts = { begun: 0, read: 0, ended: 0 };
  async function* read() {
    counts.begun += 1;
    try {
      for (;;) {
        counts.read += 1;
        yield [LONG_LINE];
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      counts.ended += 1;
    }
  }
  return { counts, read };
}

function request(socket: Socket, path: string): void {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
}

/**
 * A client that does not read, at an address of its own; `begun`: the response to it has begun. It asks again while it is refused, since the
 * place of a reading is free a moment after its end.
 */
async function hold(port: number, counts: { readonly begun: number }, address: string): Promise<Socket> {
  return eventually(async () => {
    const before = counts.begun;
    const socket = (await connectTo(port, address)).pause();
    request(socket, PATH);
    try {
      await eventually(() => expect(counts.begun).toBe(before + 1), { timeoutMs: 3000 });
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return socket;
  });
}

test("the lines are served as they are, compressed on request, and not cached", async () => {
  const { port } = await serveLines();
  const text = LINES.map((line) => `${line}\n`).join("");
  const plain = await ask(port, PATH);
  const compressed = await ask(port, PATH, { headers: { "accept-encoding": "gzip" } });
  const headers = {
    "content-type": "application/jsonl",
    "cache-control": "no-store",
    vary: "accept-encoding",
    "transfer-encoding": "chunked",
  };
  expect(plain).toMatchObject({ status: 200, headers });
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(plain.body.toString()).toBe(text);
  expect(compressed).toMatchObject({ status: 200, headers: { ...headers, "content-encoding": "gzip" } });
  expect(gunzipSync(compressed.body).toString()).toBe(text);
});

test.each([{}, { "accept-encoding": "gzip" }])(
  "HEAD returns the headers of GET with %j, and ends the reading",
  async (headers) => {
    const { counts, read } = createEndless();
    const { port } = await serveLines();
    const endless = await serve(historyOf(read));
    // RFC 9110, 9.3.2: fields that depend on the body may be absent.
    const { date: _, "transfer-encoding": __, ...got } = (await ask(port, PATH, { headers })).headers;
    for (let nth = 1; nth <= 3; nth += 1) {
      // The place of a reading is free a moment after its end.
      const head = await eventually(async () => {
        const answer = await ask(endless, PATH, { method: "HEAD", headers });
        expect(answer.status).not.toBe(503);
        return answer;
      });
      expect(head).toMatchObject({ status: 200, headers: got });
      expect(head.body).toHaveLength(0);
      await eventually(() => expect(counts.ended).toBe(nth));
    }
  },
);

test("a history without lines is empty", async () => {
  const { status, body } = await ask((await serveLines([])).port, PATH);
  expect([status, body.toString()]).toEqual([200, ""]);
});

test.each(["GET", "HEAD"])("without a folder, %s is 404 and says what to do", async (method) => {
  const { status, body } = await ask(await serve(routes()), PATH, { method });
  const text = "The exporter keeps no history; --storage.path sets its folder\n";
  expect([status, body.toString()]).toEqual([404, method === "GET" ? text : ""]);
});

test.each([
  ["", [], "2026-11-25T04:00:00.000Z", "2026-11-26T04:00:00.000Z"],
  ["?cluster=&from=&to=&other=1", [], "2026-11-25T04:00:00.000Z", "2026-11-26T04:00:00.000Z"],
  [
    "?cluster=ams&cluster=%22a%2Fb%22",
    ["ams", '"a/b"'],
    "2026-11-25T04:00:00.000Z",
    "2026-11-26T04:00:00.000Z",
  ],
  ["?to=2026-11-01T00:00:00Z", [], "2026-10-31T00:00:00.000Z", "2026-11-01T00:00:00.000Z"],
  ["?from=2026-11-26T01:00:00.5%2B02:00", [], "2026-11-25T23:00:00.500Z", "2026-11-26T04:00:00.000Z"],
  ["?from=1764000000&to=1764000000.25", [], "2025-11-24T16:00:00.000Z", "2025-11-24T16:00:00.250Z"],
  ["?from=2026-10-26T04:00:00Z", [], "2026-10-26T04:00:00.000Z", "2026-11-26T04:00:00.000Z"],
  ["?from=0&to=0", [], "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z"],
])("%j asks for clusters %j from %s to %s", async (query, clusters, from, to) => {
  const { port, asked } = await serveLines();
  expect((await ask(port, `${PATH}${query}`)).status).toBe(200);
  expect(asked).toEqual([{ clusters, fromMs: Date.parse(from), toMs: Date.parse(to) }]);
});

const INSTANT = "expected RFC 3339, such as 2026-11-26T04:00:00Z (in a URL, + is %2B), or Unix seconds";
const TOO_LONG = "from and to are more than 31 days apart";

test.each([
  ...[
    "yesterday",
    "2026-02-30T00:00:00Z",
    "2026-11-26",
    "2026-11-26T01:00:00",
    "2026-11-26T01:00:00+02:00",
  ].map((from) => [`?from=${from}`, `from: ${INSTANT}`]),
  ...[
    "-1",
    "1e9",
    "NaN",
    "Infinity",
    "99999999999999",
    "9".repeat(400),
    "%00",
    "0x10",
    "-000001-01-01T00:00:00Z",
  ].map((to) => [`?to=${to}`, `to: ${INSTANT}`]),
  ["?from=2026-11-26T04:00:00.001Z", "from is after to"],
  ["?from=2026-10-26T03:59:59.999Z", TOO_LONG],
  ["?from=0", TOO_LONG],
])("%j is 400 and says why", async (query, text) => {
  const { port, asked } = await serveLines();
  const { status, body } = await ask(port, `${PATH}${query}`);
  expect([status, body.toString()]).toEqual([400, `${text}\n`]);
  expect(asked).toEqual([]);
});

test("it needs the password that other pages need", async () => {
  const handler = historyOf(async function* read() {
    yield LINES;
  });
  const { port } = await startSecured(`basic_auth_users: { monitor: $2y$${HASH} }`, {}, handler);
  expect((await ask(port, PATH)).status).toBe(401);
  expect((await ask(port, PATH, { headers: basic("monitor:correct horse") })).status).toBe(200);
});

test("a client has one reading at a time, and all clients have two; each place is free again when its client is gone", async () => {
  const { counts, read } = createEndless();
  const port = await serve(historyOf(read));
  const one = await hold(port, counts, "127.0.0.1");
  const refused = await ask(port, PATH);
  expect([refused.status, refused.headers["retry-after"], refused.body.toString()]).toEqual([
    503,
    "1",
    "Too many requests at once\n",
  ]);
  await hold(port, counts, "127.0.0.2");
  expect((await ask(port, PATH, { localAddress: "127.0.0.3" })).status).toBe(503);
  one.destroy();
  await eventually(() => expect(counts.ended).toBe(1));
  await hold(port, counts, "127.0.0.3");
});

test.each(["", "Accept-Encoding: gzip\r\n"])(
  "a client that does not read stops the reading, and is cut off after 30 seconds (%j)",
  async (header) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    onTestFinished(() => void vi.useRealTimers());
    const { counts, read } = createEndless();
    const port = await serve(historyOf(read));
    const socket = (await connectTo(port)).pause();
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
    let last = 0;
    await eventually(
      () => {
        const isStill = counts.read > 1 && counts.read === last;
        last = counts.read;
        expect(isStill).toBe(true);
      },
      { everyMs: 500 },
    );
    expect(counts.ended).toBe(0);
    const closed = once(socket, "close");
    vi.advanceTimersByTime(30_000);
    socket.resume();
    await closed;
    await eventually(() => expect(counts.ended).toBe(1));
  },
);

test("of 40 clients at once two are served, and scrapes and health checks go on", async () => {
  const { counts, read } = createEndless();
  const port = await serve(historyOf(read));
  const sockets = await Promise.all(
    Array.from({ length: 40 }, (_, nth) => connectTo(port, `127.0.0.${nth + 1}`)),
  );
  const begun: string[] = [];
  for (const socket of sockets) {
    socket.once("data", (data) => begun.push(String(data).slice(9, 12)));
    request(socket, PATH);
  }
  await eventually(() => expect(begun).toHaveLength(40));
  expect(begun.filter((status) => status === "200")).toHaveLength(2);
  const before = counts.read;
  await eventually(async () => {
    for (const path of ["/metrics", "/-/healthy"]) expect((await ask(port, path)).status).toBe(200);
    expect(counts.read).toBeGreaterThan(before + 20);
  });
  for (const socket of sockets) socket.destroy();
  await eventually(() => expect(counts).toMatchObject({ begun: 2, ended: 2 }));
});

function sum(all: readonly number[]): number {
  return all.reduce((some, each) => some + each, 0);
}

test.each([
  ["a long one", 1, 20, 1],
  ["two at once", 2, 20, 1],
  ["short ones, one after the other", 1, 1, 20],
])("readings pause for as long as they work: %s", async (_, clients, batches, times) => {
  const spans: { readonly beganMs: number; readonly endedMs: number }[] = [];
  async function* read() {
    for (let nth = 0; nth < batches; nth += 1) {
      const beganMs = performance.now();
      while (performance.now() - beganMs < 10);
      spans.push({ beganMs, endedMs: performance.now() });
      yield LINES;
    }
  }
  const port = await serve(historyOf(read));
  const addresses = ["127.0.0.1", "127.0.0.2"].slice(0, clients);
  for (let nth = 0; nth < times; nth += 1)
    await Promise.all(addresses.map((localAddress) => ask(port, PATH, { localAddress })));
  // Nothing follows the last pause of each client.
  const worked = spans.slice(0, -clients).map(({ beganMs, endedMs }) => endedMs - beganMs);
  const paused = spans.slice(1).map(({ beganMs }, nth) => beganMs - (spans[nth]?.endedMs ?? beganMs));
  expect(spans).toHaveLength(clients * batches * times);
  expect(sum(paused)).toBeGreaterThan(sum(worked));
});

test("a folder that cannot be read is 503, and the next request is served", async () => {
  let isBroken = true;
  const port = await serve(
    historyOf(async function* read() {
      if (isBroken) throw new Error("ENOENT: no such file or directory, scandir '/nowhere'");
      yield LINES;
    }),
  );
  const { status, body } = await ask(port, PATH);
  expect([status, body.toString()]).toEqual([
    503,
    "The history cannot be read: ENOENT: no such file or directory, scandir '/nowhere'\n",
  ]);
  isBroken = false;
  expect((await ask(port, PATH)).status).toBe(200);
});

test("a file system that hangs is 503, and its readings keep their places until it answers", async () => {
  const [isHanging, answer] = [held<void>(), held<void>()];
  let asked = 0;
  async function* read() {
    asked += 1;
    await answer.promise;
    yield LINES;
  }
  const history = createHistory({ read, wallMs: () => NOW_MS }, () => isHanging.promise);
  const port = await serve((incoming, response) => {
    void history(incoming, response).then((reply) => reply && send(incoming, response, reply));
  });
  const begun = ["127.0.0.1", "127.0.0.2"].map((localAddress) => ask(port, PATH, { localAddress }));
  await eventually(() => expect(asked).toBe(2));
  isHanging.release();
  for (const { status, body } of await Promise.all(begun))
    expect([status, body.toString()]).toEqual([503, "The file system of the history does not answer\n"]);
  for (const localAddress of ["127.0.0.1", "127.0.0.3"])
    expect((await ask(port, PATH, { localAddress })).body.toString()).toBe("Too many requests at once\n");
  answer.release();
  await eventually(async () => expect((await ask(port, PATH)).body.toString()).not.toContain("Too many"));
});

test("an exporter with a folder serves what it has judged, and logs once that a file is damaged", async () => {
  // Nothing answers at port 1.
  const appliances = ["a", "b"].map((name) => ({ name, base_url: `https://127.0.0.1:1/${name}` }));
  const exporter = await startTestExporter({ config: { appliances }, journal: "journal" });
  onTestFinished(exporter.stop);
  expect(exporter.paths).toContain(PATH);
  const linesOf = async (query: string) => {
    const { status, body } = await ask(exporter.port, `${PATH}${query}`);
    expect(status).toBe(200);
    return body
      .toString()
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  const lines = await eventually(async () => {
    const written = await linesOf("?cluster=b");
    expect(written.some(({ cluster }) => cluster === "b")).toBe(true);
    return written;
  });
  expect(lines[0]).toMatchObject({ kind: "run", v: 1, why: "start" });
  expect(lines.at(-1)).toMatchObject({ kind: "alive" });
  expect(lines.filter(({ cluster = "b" }) => cluster !== "b")).toEqual([]);
  const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const name = `${yesterday}.jsonl.gz`;
  await exporter.write(`journal/${name}`, "no gzip");
  for (const query of ["", "?cluster=a"]) expect(await linesOf(query)).not.toHaveLength(0);
  const damaged = exporter.log.lines.filter(
    ({ msg }) => msg === "a file of the journal cannot be read as a whole",
  );
  expect(damaged).toMatchObject([
    { path: join(exporter.folder, "journal", name), detail: "incorrect header check" },
  ]);
});
