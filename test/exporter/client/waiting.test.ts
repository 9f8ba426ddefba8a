import { expect, test } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { answering, clientOf, LONG_MS, OK, serve, shortly } from "./support.ts";

test("polls that wait for a connection share the existing one", async () => {
  const server = await serve(answering(OK));
  const client = clientOf(`https://127.0.0.1:${server.port}`, { maxOpen: 1 });
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.get("/x", LONG_MS)));
  expect(answers.map(shortly)).toEqual(Array.from({ length: 20 }, () => "{}"));
  expect(server.connections()).toBe(1);
});

test("the wait for a connection does not count towards the timeout", async () => {
  const server = await serve(({ socket, onRequest }) =>
    onRequest(() => void setTimeout(() => socket.write(OK), 400)),
  );
  const client = clientOf(`https://127.0.0.1:${server.port}`, { maxOpen: 1 });
  const answers = await Promise.all(Array.from({ length: 5 }, () => client.get("/x", 1500)));
  expect(answers.map(shortly)).toEqual(Array.from({ length: 5 }, () => "{}"));
});

test("a closed connection makes room for a waiting poll", async () => {
  const server = await serve(({ socket, onRequest }) => onRequest(() => void socket.end(OK)));
  const client = clientOf(`https://127.0.0.1:${server.port}`, { maxOpen: 1 });
  const answers = await Promise.all(Array.from({ length: 5 }, () => client.get("/x", LONG_MS)));
  expect(answers.map(shortly)).toEqual(Array.from({ length: 5 }, () => "{}"));
  expect(server.connections()).toBe(5);
});

test("a client that is closed while its polls wait never starts them", async () => {
  const server = await serve(() => {});
  const client = clientOf(`https://127.0.0.1:${server.port}`, { maxOpen: 1 });
  const started: string[] = [];
  const ask = (path: string) => client.get(path, LONG_MS, { onStarted: () => void started.push(path) });
  const answers = Promise.all(["/first", "/second", "/third"].map(ask));
  await eventually(() => expect(server.requests).toHaveLength(1));
  client.close();
  expect((await answers).map(({ ok }) => ok)).toEqual([false, false, false]);
  expect(started).toEqual(["/first"]);
});

test("a poll that is ended fails at once, and makes room for a waiting one", async () => {
  const server = await serve(({ socket, onRequest }) =>
    onRequest(() => server.requests.length > 1 && socket.write(OK)),
  );
  const client = clientOf(`https://127.0.0.1:${server.port}`, { maxOpen: 1 });
  const ends: (() => void)[] = [];
  const hangs = client.get("/hangs", LONG_MS, { onStarted: (end) => void ends.push(end) });
  await eventually(() => expect(server.requests).toHaveLength(1));
  const waits = client.get("/waits", LONG_MS);
  for (const end of ends) end();
  expect((await hangs).ok).toBe(false);
  expect(shortly(await waits)).toBe("{}");
});

test("a poll that waits too long for a connection fails as local, and never starts", async () => {
  const server = await serve(() => {});
  const client = clientOf(`https://127.0.0.1:${server.port}`, { maxOpen: 1 });
  void client.get("/hangs", LONG_MS);
  await eventually(() => expect(server.requests).toHaveLength(1));
  const started: string[] = [];
  const options = { connectionWaitMs: 50, onStarted: () => void started.push("/waits") };
  const answer = await client.get("/waits", LONG_MS, options);
  expect(shortly(answer)).toBe("local");
  expect(started).toEqual([]);
});
