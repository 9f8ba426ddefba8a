import type { RequestListener } from "node:http";
import type { Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Rendering } from "../../../src/exporter/web/routes.ts";
import { eventually } from "../../support/eventually.ts";
import { ask, EMPTY_DOCUMENT, held, routes, serve } from "./support.ts";

/** Serves, and lists the sockets of the requests that have arrived. */
async function serveWatched(handler: RequestListener) {
  const arrived: Socket[] = [];
  const port = await serve((request, response) => {
    arrived.push(request.socket);
    handler(request, response);
  });
  return { port, arrived };
}

const RUNBOOK = "<!doctype html>\n";
const ASSETS = new Map([
  ["/assets/1/style.css", { contentType: "text/css; charset=utf-8", body: Buffer.from("p {}\n") }],
]);

test.each([
  ["/metrics", "text/plain; version=0.0.4; charset=utf-8", "x 1\n"],
  ["/sd/websites", "application/json", "[]\n"],
  ["/api/v1/fleet", "application/json", `${JSON.stringify(EMPTY_DOCUMENT)}\n`],
  ["/config", "text/plain; charset=utf-8", "appliances: []\n"],
  ["/runbook", "text/html; charset=utf-8", RUNBOOK],
  ["/assets/1/style.css", "text/css; charset=utf-8", "p {}\n"],
])("%s is served, compressed on request, and its query is ignored", async (path, type, text) => {
  const port = await serve(routes({ runbook: RUNBOOK, assets: ASSETS }));
  const plain = await ask(port, `${path}?x=1`);
  expect(plain).toMatchObject({ status: 200, headers: { "content-type": type, vary: "accept-encoding" } });
  expect(plain.headers["content-length"]).toBe(String(text.length));
  expect(plain.headers["content-encoding"]).toBeUndefined();
  expect(plain.body.toString()).toBe(text);
  const { headers, body } = await ask(port, path, { headers: { "accept-encoding": "gzip" } });
  expect(headers).toMatchObject({ "content-encoding": "gzip", "content-length": String(body.length) });
  expect(gunzipSync(body).toString()).toBe(text);
});

test("while the websites are not known, there are no targets", async () => {
  const port = await serve(routes({ renderWebsites: async () => undefined }));
  const { status, body } = await ask(port, "/sd/websites");
  expect([status, body.toString()]).toEqual([503, "Not every website was polled yet\n"]);
});

test.each(["/config", "/", "/api/v1/fleet", "/sd/websites", "/runbook"])("%s is not cached", async (path) => {
  expect((await ask(await serve(routes()), path)).headers["cache-control"]).toBe("no-store");
});

test("the runbook has the policy of the status page", async () => {
  const port = await serve(routes());
  const [page, runbook] = await Promise.all(["/", "/runbook"].map((path) => ask(port, path)));
  const policy = page?.headers["content-security-policy"];
  expect(policy).toContain("default-src 'none'");
  expect(runbook?.headers["content-security-policy"]).toBe(policy);
});

test("metrics are served only at the configured path", async () => {
  const port = await serve(routes({ telemetryPath: "/internal/metrics" }));
  expect((await ask(port, "/internal/metrics")).status).toBe(200);
  expect((await ask(port, "/metrics")).status).toBe(404);
});

test.each(["/", "/metrics", "/-/healthy", "/-/ready"])(
  "HEAD of %s returns what GET does, without the body",
  async (path) => {
    const port = await serve(routes());
    const got = await ask(port, path);
    const head = await ask(port, path, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.body).toHaveLength(0);
    expect(head.headers["content-length"]).toBe(String(got.body.length));
    expect(head.headers["content-type"]).toBe(got.headers["content-type"]);
  },
);

test.each(["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])(
  "%s is 405 with the allowed methods",
  async (method) => {
    const { status, headers } = await ask(await serve(routes()), "/metrics", { method });
    expect(status).toBe(405);
    expect(headers.allow).toBe("GET, HEAD");
  },
);

test.each([
  "/nothing",
  "/metrics/",
  "//metrics",
  "/METRICS",
  "/%6detrics",
  "/../metrics",
  `/${"x".repeat(4_000)}`,
])("%s is 404", async (path) => {
  expect((await ask(await serve(routes()), path)).status).toBe(404);
});

test("health depends on the scheduler, readiness on the first polls", async () => {
  let [isHealthy, isReady] = [false, false];
  const port = await serve(routes({ isHealthy: () => isHealthy, isReady: () => isReady }));
  const statuses = async () => [(await ask(port, "/-/healthy")).status, (await ask(port, "/-/ready")).status];
  expect(await statuses()).toEqual([503, 503]);
  isHealthy = true;
  expect(await statuses()).toEqual([200, 503]);
  isReady = true;
  expect(await statuses()).toEqual([200, 200]);
});

test("a page or a reload that fails is an internal error, which only the log describes", async () => {
  const logged: unknown[] = [];
  const port = await serve(
    routes({
      renderMetrics: () => Promise.reject(new Error("hunter2")),
      renderPage: () => {
        throw new TypeError("x is not a function");
      },
      mayReload: true,
      reload: () => Promise.reject(new Error("hunter3")),
      onError: (path, error) => void logged.push(path, String(error)),
    }),
  );
  for (const path of ["/metrics", "/", "/-/reload"]) {
    const { status, body } = await ask(port, path, { method: path === "/-/reload" ? "POST" : "GET" });
    expect([status, body.toString()]).toEqual([500, "Internal error\n"]);
  }
  expect(logged).toEqual(
    ["/metrics", "Error: hunter2"].concat(
      "/",
      "TypeError: x is not a function",
      "/-/reload",
      "Error: hunter3",
    ),
  );
  expect((await ask(port, "/-/healthy")).status).toBe(200);
});

test.each([
  { path: "/metrics", limit: 100, other: "/api/v1/fleet" },
  { path: "/", limit: 10, other: "/metrics" },
  { path: "/config", limit: 10, other: "/metrics" },
  { path: "/api/v1/fleet", limit: 10, other: "/metrics" },
  { path: "/sd/websites", limit: 10, other: "/metrics" },
])(
  "beyond $limit simultaneous requests of a client for $path the response is 503; other clients, $other and health checks are served",
  async ({ path, limit, other }) => {
    const rendered = held<Rendering>();
    const render = () => rendered.promise;
    const [first] = ["/metrics", "/"].includes(path) ? [path] : ["/"];
    const handler = routes(first === "/" ? { renderPage: render } : { renderMetrics: render });
    const { port, arrived } = await serveWatched(handler);
    const answers = Array.from({ length: 120 }, (_, nth) => ask(port, nth === 0 ? first : path));
    await eventually(() => expect(arrived).toHaveLength(120));
    for (const served of ["/-/healthy", other]) expect((await ask(port, served)).status).toBe(200);
    const answerToAnother = ask(port, path, { localAddress: "127.0.0.2" });
    await eventually(() => expect(arrived).toHaveLength(123));
    rendered.release({ text: ["x 1\n"] });
    expect((await answerToAnother).status).toBe(200);
    const all = await Promise.all(answers);
    expect(all.filter(({ status }) => status === 200)).toHaveLength(limit);
    const refused = all.filter(({ status }) => status === 503);
    expect(refused).toHaveLength(120 - limit);
    expect(refused[0]?.headers["retry-after"]).toBe("1");
    expect((await ask(port, path)).status).toBe(200);
  },
);

test("equal requests share a rendering: of all routes but the status page, whatever the query", async () => {
  const rendered = held<Rendering>();
  const asked: string[] = [];
  const handler = routes({
    renderPage: (query) => {
      asked.push(`/?${query.toString()}`);
      return rendered.promise;
    },
    renderFleet: async () => {
      asked.push("/api/v1/fleet");
      return { text: ["{}"] };
    },
  });
  const { port, arrived } = await serveWatched(handler);
  const paths = ["/", "/?text=1", "/?text=1", "/?text=2", "/api/v1/fleet", "/api/v1/fleet?x=1"];
  const answers = paths.map((path) => ask(port, path));
  await eventually(() => expect(arrived).toHaveLength(paths.length));
  rendered.release({ text: [] });
  await Promise.all(answers);
  expect(asked.toSorted()).toEqual(["/?", "/?text=1", "/?text=2", "/api/v1/fleet"]);
});

test("a client that is gone has no page rendered", async () => {
  const first = held<Rendering>();
  const asked: string[] = [];
  const handler = routes({
    renderPage: async (query) => {
      asked.push(query.toString());
      return asked.length === 1 ? first.promise : { text: [] };
    },
  });
  const { port, arrived } = await serveWatched(handler);
  const one = ask(port, "/?text=1");
  await eventually(() => expect(asked).toHaveLength(1));
  const gone = ask(port, "/?text=2").catch(() => "gone");
  await eventually(() => expect(arrived).toHaveLength(2));
  arrived[1]?.destroy();
  expect(await gone).toBe("gone");
  const last = ask(port, "/?text=3");
  await eventually(() => expect(arrived).toHaveLength(3));
  expect(asked).toHaveLength(1);
  first.release({ text: [] });
  await Promise.all([one, last]);
  expect(asked).toEqual(["text=1", "text=3"]);
});
