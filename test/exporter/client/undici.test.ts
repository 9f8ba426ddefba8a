import { Client } from "undici";
import BundledClient from "undici/lib/dispatcher/client.js";
import { expect, test } from "vitest";
import { answering, servePlain } from "./support.ts";

// What the client needs of undici beyond its documented interface. An upgrade that changes it fails here.

test("the file of undici that is loaded, without the rest of the package, has its Client", () => {
  expect(BundledClient).toBe(Client);
});

test.each([
  ["HTTP/1.1 099 Low\r\n\r\n", { name: "AssertionError", code: "ERR_ASSERTION" }],
  ["HTTP/1.1 101 Switching\r\n\r\n", { name: "AssertionError", code: "ERR_ASSERTION" }],
  ["SSH-2.0-OpenSSH_9.6\r\n", { name: "HTTPParserError" }],
])("the answer %j is an error that the client knows", async (text, known) => {
  const server = await servePlain(answering(text));
  const client = new BundledClient(`http://127.0.0.1:${server.port}`);
  const request = client.request({ method: "GET", path: "/" });
  await expect(request).rejects.toMatchObject(known);
  await client.destroy();
});
