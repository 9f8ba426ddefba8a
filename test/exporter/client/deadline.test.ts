import { expect, test } from "vitest";
import { answering, clientOf, LONG_MS, OK, serve, servePlain, shortly } from "./support.ts";

const TIMEOUT_MS = 150;

/** Placeholder for a function that the test sets later. */
function failTest(): void {
  throw new Error("not yet");
}

test("a deadline that passes during the name lookup is dns, and a late lookup opens no connection", async () => {
  const server = await serve(answering(OK));
  let finish: () => void = failTest;
  const client = clientOf(`https://waf.example:${server.port}`, {
    lookup: () =>
      new Promise((resolve) => {
        finish = () => resolve([{ address: "127.0.0.1", family: 4 }]);
      }),
  });
  expect(shortly(await client.get("/x", TIMEOUT_MS))).toBe("dns");
  finish();
  expect(shortly(await clientOf(`https://127.0.0.1:${server.port}`).get("/x", LONG_MS))).toBe("{}");
  expect(server.connections()).toBe(1);
});

test("an error is that error at the deadline, although its body has no end", async () => {
  const server = await servePlain(answering("HTTP/1.1 503 No\r\nContent-Length: 9\r\n\r\nit is"));
  const client = clientOf(`http://127.0.0.1:${server.port}`);
  const outcome = await client.get("/x", 4 * TIMEOUT_MS, { onAnswer: () => {} });
  expect(outcome).toEqual({
    ok: false,
    failure: { reason: "http_status", message: "answered with status 503", status: 503 },
  });
});

test("a deadline does not affect other polls of the appliance", async () => {
  const server = await serve(({ socket, onRequest }) =>
    onRequest(({ path }) => {
      if (path === "/quick") setTimeout(() => socket.write(OK), 2 * TIMEOUT_MS);
    }),
  );
  const client = clientOf(`https://127.0.0.1:${server.port}`);
  const [slow, quick] = await Promise.all([client.get("/slow", TIMEOUT_MS), client.get("/quick", LONG_MS)]);
  expect([shortly(slow), shortly(quick)]).toEqual(["timeout", "{}"]);
});
