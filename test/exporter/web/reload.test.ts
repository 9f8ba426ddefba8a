import { expect, test } from "vitest";
import { ask, held, routes, serve } from "./support.ts";

const PATH = "/-/reload";

function failToReload(): Promise<never> {
  return Promise.reject(new Error("hunter2"));
}

test.each(["POST", "PUT"])("%s reloads and responds when the reload is complete", async (method) => {
  const result = held<{ ok: true }>();
  const started = held<undefined>();
  const reload = () => {
    started.release(undefined);
    return result.promise;
  };
  const port = await serve(routes({ mayReload: true, reload }));
  let isAnswered = false;
  const answer = ask(port, PATH, { method }).finally(() => (isAnswered = true));
  await started.promise;
  await ask(port, "/-/healthy");
  expect(isAnswered).toBe(false);
  result.release({ ok: true });
  const { status, body } = await answer;
  expect([status, body.toString()]).toEqual([200, "Reloaded\n"]);
});

test.each(["POST", "PUT"])("%s is 403 if reloading is not enabled", async (method) => {
  const { status, body } = await ask(await serve(routes()), PATH, { method });
  expect([status, body.toString()]).toEqual([
    403,
    "Reloading over HTTP is not enabled; --web.enable-lifecycle enables it\n",
  ]);
});

test.each(["GET", "HEAD", "DELETE", "OPTIONS"])("%s does not reload", async (method) => {
  const { status, headers } = await ask(
    await serve(routes({ mayReload: true, reload: failToReload })),
    PATH,
    { method },
  );
  expect([status, headers.allow]).toEqual([405, "POST, PUT"]);
});

test.each<Readonly<Record<string, string>>>([
  { origin: "http://evil.example" },
  { origin: "null" },
  { "sec-fetch-site": "cross-site", origin: "http://evil.example" },
  // After DNS rebinding, the foreign page has the same origin.
  { host: "evil.example", origin: "http://evil.example", "sec-fetch-site": "same-origin" },
  { "sec-fetch-site": "none" },
])("a web page cannot reload: %o", async (headers) => {
  const port = await serve(routes({ mayReload: true, reload: failToReload }));
  for (const method of ["POST", "PUT"]) {
    const { status, body } = await ask(port, PATH, { method, headers });
    expect([status, body.toString()]).toEqual([
      403,
      "Web pages cannot reload: the request has an Origin or Sec-Fetch-Site header\n",
    ]);
  }
});

test("a tool reloads under any host name", async () => {
  const port = await serve(routes({ mayReload: true, reload: async () => ({ ok: true }) }));
  const { status } = await ask(port, PATH, { method: "POST", headers: { host: "any.example" } });
  expect(status).toBe(200);
});
