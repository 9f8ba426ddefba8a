import { expect, test } from "vitest";
import { parseRoutePrefix, queryOf, underPrefix } from "../../src/web/paths.ts";
import { ask, routes, serve } from "./support.ts";

test.each([
  ["/exporter/-/healthy", 200],
  ["/exporter/metrics?x=1", 200],
  ["/exporter/", 200],
  ["http://any.example/exporter/metrics?x=1", 200],
  ["http://any.example/metrics", 404],
  ["/metrics", 404],
  ["/exporterx/metrics", 404],
])("under the prefix /exporter, %s returns %i", async (path, status) => {
  const port = await serve(underPrefix("/exporter", routes()));
  expect((await ask(port, path)).status).toBe(status);
});

test.each(["/", "/exporter", "http://any.example", "http://any.example/exporter"])(
  "under a prefix, %s redirects to the status page",
  async (path) => {
    const port = await serve(underPrefix("/exporter", routes()));
    expect(await ask(port, path)).toMatchObject({ status: 302, headers: { location: "/exporter/" } });
  },
);

test("under a prefix, the redirect to the status page keeps the query", async () => {
  const port = await serve(underPrefix("/exporter", routes()));
  for (const path of ["/?cluster=ams", "/exporter?cluster=ams"])
    expect(await ask(port, path)).toMatchObject({
      status: 302,
      headers: { location: "/exporter/?cluster=ams" },
    });
});

test("without a prefix, paths do not change", async () => {
  const port = await serve(underPrefix("", routes()));
  expect((await ask(port, "/metrics")).status).toBe(200);
});

test.each([
  ["/", ""],
  ["/exporter", "/exporter"],
  ["/a/b/", "/a/b"],
  ["exporter", undefined],
  ["//host", undefined],
  ["/a b", undefined],
  ["", undefined],
])("%j is parsed as the prefix %j", (path, prefix) => {
  expect(parseRoutePrefix(path)).toBe(prefix);
});

test.each([
  ["/", ""],
  ["/?a=1", "a=1"],
  ["/??a=1", "a=1"],
  ["/?a=1?b", "a=1%3Fb"],
  ["http://any.example?a=1", "a=1"],
])("the query of %s is %j", async (path, query) => {
  const port = await serve((request, response) => void response.end(queryOf(request).toString()));
  expect((await ask(port, path)).body.toString()).toBe(query);
});
