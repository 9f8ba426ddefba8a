import { expect, test } from "vitest";
import { createPasswordCheck, type Verdict } from "../../src/web/password-check.ts";
import { HASH } from "../web-config/support.ts";

/** About half a second of work. */
const DEAR = `$2b$13$${".".repeat(53)}`;

/** Asks for a user's password as a client would that can go away. */
function createAsking() {
  const check = createPasswordCheck();
  return (password: string, hash = DEAR) => {
    const patience = new AbortController();
    const credentials = { user: "u", password: Buffer.from(password) };
    const verdict: Promise<Verdict> = check(credentials, hash, true, patience.signal);
    return { verdict, giveUp: () => patience.abort() };
  };
}

test("what nobody waits for is not checked: whoever comes next has the turn", async () => {
  const ask = createAsking();
  const first = ask("first");
  const gone = Array.from({ length: 99 }, (_, index) => ask(`gone ${index}`));
  expect(await ask("one too many").verdict).toBe("busy");
  for (const { giveUp } of gone) giveUp();
  expect(new Set(await Promise.all(gone.map(({ verdict }) => verdict)))).toEqual(new Set(["busy"]));
  const right = ask("correct horse", `$2y$${HASH}`);
  expect(await Promise.race([right.verdict, ask("later").verdict])).toBe("right");
  expect(await first.verdict).toBe("wrong");
});

test("what was begun is remembered although nobody waited for it", async () => {
  const ask = createAsking();
  const first = ask("correct horse", `$2y$${HASH}`);
  await Promise.resolve();
  first.giveUp();
  expect(await first.verdict).toBe("busy");
  expect(await ask("dear").verdict).toBe("wrong");
  const again = ask("correct horse", `$2y$${HASH}`);
  again.giveUp();
  expect(await again.verdict).toBe("right");
});

test("one who gives up leaves the others who wait for the same password theirs", async () => {
  const ask = createAsking();
  const before = ask("before");
  const [gone, stays] = [ask("correct horse", `$2y$${HASH}`), ask("correct horse", `$2y$${HASH}`)];
  gone.giveUp();
  expect(await gone.verdict).toBe("busy");
  expect(await before.verdict).toBe("wrong");
  expect(await stays.verdict).toBe("right");
});
