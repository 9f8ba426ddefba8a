import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { ask, EMPTY_DOCUMENT, routes, serve } from "./support.ts";

const PATH = "/api/v1/fleet";

test("the document is served as JSON, compressed on request", async () => {
  const port = await serve(routes());
  const plain = await ask(port, PATH);
  expect(plain).toMatchObject({
    status: 200,
    headers: { "content-type": "application/json", "cache-control": "no-cache", vary: "accept-encoding" },
  });
  expect(JSON.parse(plain.body.toString())).toEqual(EMPTY_DOCUMENT);
  const compressed = await ask(port, PATH, { headers: { "accept-encoding": "gzip" } });
  expect(compressed.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(compressed.body)).toEqual(plain.body);
});

test("a client that has the document already is told so, without a body, until it changes", async () => {
  let document = EMPTY_DOCUMENT;
  const port = await serve(routes({ document: () => document }));
  const { etag = "" } = (await ask(port, PATH)).headers;
  const headers = { "if-none-match": etag };
  const known = await ask(port, PATH, { headers });
  expect(known).toMatchObject({ status: 304, headers: { etag } });
  expect(known.headers).not.toHaveProperty("content-length");
  expect(known.body).toHaveLength(0);
  document = { ...EMPTY_DOCUMENT, verdict: "well" };
  expect((await ask(port, PATH, { headers })).status).toBe(200);
});
