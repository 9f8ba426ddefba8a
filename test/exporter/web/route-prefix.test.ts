import { expect, test } from "vitest";
import { parseExternalUrl, parseRoutePrefix, queryOf, underPrefix } from "../../../src/exporter/web/paths.ts";
import { ask, routes, serve } from "./support.ts";

test.each([
  ["/exporter/-/healthy", 200, undefined],
  ["/exporter/metrics?x=1", 200, undefined],
  ["/exporter/", 200, undefined],
  ["http://any.example/exporter/metrics?x=1", 200, undefined],
  ["http://any.example/metrics", 404, undefined],
  ["/metrics", 404, undefined],
  ["/exporterx/metrics", 404, undefined],
  ["/", 302, "/exporter/"],
  ["/exporter", 302, "/exporter/"],
  ["http://any.example", 302, "/exporter/"],
  ["http://any.example/exporter", 302, "/exporter/"],
  ["/?cluster=ams", 302, "/exporter/?cluster=ams"],
  ["/exporter?cluster=ams", 302, "/exporter/?cluster=ams"],
])("under the prefix /exporter, %s returns %i, with the location %s", async (path, expected, location) => {
  const { status, headers } = await ask(await serve(underPrefix("/exporter", routes())), path);
  expect([status, headers.location]).toEqual([expected, location]);
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
  ["https://exporter.example.org", "https://exporter.example.org", ""],
  ["HTTPS://Exporter.Example.org:443/", "https://exporter.example.org", ""],
  [
    "http://[2001:db8::1]:10849/tools/exporter/",
    "http://[2001:db8::1]:10849/tools/exporter",
    "/tools/exporter",
  ],
])("%s is parsed as the external URL %s, with the prefix %j", (text, url, routePrefix) => {
  expect(parseExternalUrl(text)).toEqual({ url, routePrefix });
});

test.each([
  "",
  "exporter.example.org",
  "/base",
  "ftp://exporter.example.org",
  "https://user@exporter.example.org",
  "https://exporter.example.org/?cluster=ams",
  "https://exporter.example.org/#ams",
  "https://exporter.example.org//base",
])("%j is not an external URL", (text) => {
  expect(parseExternalUrl(text)).toBeUndefined();
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
