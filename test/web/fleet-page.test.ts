import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { ask, EMPTY_DOCUMENT, routes, serve } from "./support.ts";

const PATH = "/api/v1/fleet";

test("the fleet is served as JSON, compressed on request", async () => {
  const port = await serve(routes());
  const plain = await ask(port, PATH);
  expect(plain).toMatchObject({
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "no-store", vary: "accept-encoding" },
  });
  expect(JSON.parse(plain.body.toString())).toEqual(EMPTY_DOCUMENT);
  const compressed = await ask(port, PATH, { headers: { "accept-encoding": "gzip" } });
  expect(compressed.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(compressed.body)).toEqual(plain.body);
});
