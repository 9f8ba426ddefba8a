import { expect, test } from "vitest";
import { createPageWork } from "../../src/web/page-work.ts";
import { held } from "./support.ts";

test("pages take turns, and so do the clients of a page", async () => {
  const workInTurn = createPageWork();
  const done: string[] = [];
  const words = ["/a 1 x", "/a 1 y", "/a 1 z", "/a 2 x", "/b 1 x"];
  await Promise.all(
    words.map((word) => {
      const [page = "", client = ""] = word.split(" ");
      return workInTurn(page, client, () => done.push(word));
    }),
  );
  expect(done).toEqual(["/a 1 x", "/a 1 z", "/b 1 x", "/a 2 x", "/a 1 y"]);
});

test("other work gets as much time as pages", async () => {
  const workInTurn = createPageWork();
  const busyMs = 50;
  const times: number[] = [];
  const work = (): void => {
    times.push(performance.now());
    while (performance.now() < (times.at(-1) ?? 0) + busyMs);
  };
  await Promise.all([workInTurn("/", "a", work), workInTurn("/", "a", work)]);
  const [first = 0, second = 0] = times;
  // Timers have a resolution of a millisecond.
  expect(second - first).toBeGreaterThan(2 * busyMs - 2);
});

test("the next page waits for one that is made in slices", async () => {
  const workInTurn = createPageWork();
  const sliced = held<string>();
  const done: string[] = [];
  const first = workInTurn("/a", "a", () => sliced.promise).then((text) => done.push(text ?? ""));
  const next = workInTurn("/b", "a", () => done.push("/b"));
  await new Promise((resolve) => setImmediate(resolve));
  sliced.release("/a");
  await Promise.all([first, next]);
  expect(done).toEqual(["/a", "/b"]);
});

test("work beyond the queue's limit is refused", async () => {
  const workInTurn = createPageWork();
  const asked = Array.from({ length: 600 }, (_, nth) => workInTurn("/a", "a", () => nth));
  const other = workInTurn("/b", "b", () => "other");
  const results = await Promise.all(asked);
  expect(results.filter((result) => result === undefined)).toHaveLength(88);
  expect([results[0], results[1], results.at(-1), await other]).toEqual([0, undefined, 599, "other"]);
});
