import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { listen } from "../../appliance/support.ts";
import { clientOf, inlinePassword, LONG_MS, shortly } from "./support.ts";

const PASSWORD = "correct horse";

/** A client of a server that answers like this, and the requests that the server got. */
async function startPosting(answer: (body: string) => readonly [status: number, text: string]) {
  const requests: Pick<IncomingMessage, "method" | "url" | "headers">[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const reply = (body: string): void => {
      const [status, words] = answer(body);
      response.writeHead(status).end(words);
    };
    void text(request).then(reply);
  });
  const http = { basicAuth: inlinePassword(PASSWORD) };
  return { client: clientOf(`http://127.0.0.1:${await listen(server)}/prefix`, { http }), requests };
}

test("a POST has a JSON body, the credentials and the prefix of the address", async () => {
  const { client, requests } = await startPosting((body) => [200, `got ${body}`]);
  expect(shortly(await client.post("/path", '{"a":"ä"}', LONG_MS))).toBe('got {"a":"ä"}');
  expect(requests).toMatchObject([
    {
      method: "POST",
      url: "/prefix/path",
      headers: {
        "content-type": "application/json",
        "content-length": "10",
        authorization: `Basic ${Buffer.from(`monitor:${PASSWORD}`).toString("base64")}`,
      },
    },
  ]);
});

test.each([
  [403, "auth", "not you\n", "not you"],
  [409, "http_status", `you sent ${PASSWORD}`, "you sent <secret>"],
  [500, "http_status", "", "answered with status 500"],
])(
  "a POST that is refused with %i says why, without the password",
  async (status, reason, reply, message) => {
    const { client } = await startPosting(() => [status, reply]);
    expect(await client.post("/", "{}", LONG_MS)).toEqual({
      ok: false,
      failure: { reason, status, message },
    });
  },
);

test("a GET after a refused POST is one of its own", async () => {
  const { client, requests } = await startPosting((body) => (body === "" ? [200, "{}"] : [400, "no"]));
  await client.post("/", "[]", LONG_MS);
  expect(shortly(await client.get("/", LONG_MS))).toBe("{}");
  expect(requests.map(({ method, headers }) => [method, headers["content-type"]])).toEqual([
    ["POST", "application/json"],
    ["GET", undefined],
  ]);
});
