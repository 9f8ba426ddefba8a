import { setImmediate } from "node:timers/promises";
import { bcrypt } from "hash-wasm";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createPasswordCheck, type CheckResult } from "../../../src/exporter/web/password-check.ts";
import { HASH } from "./support.ts";

const CHEAP = `$2b$04$${".".repeat(53)}`;
const RIGHT = { password: "correct horse", hash: `$2y$${HASH}` };

// Nothing waits too long, however busy the machine is.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

interface Asked {
  readonly password: string;
  readonly hash?: string;
  readonly user?: string;
  readonly client?: string;
}

type IsMatch = NonNullable<Parameters<typeof createPasswordCheck>[1]>;

/** Takes no thread, which takes long on a busy machine, but a turn of the event loop. */
const compare: IsMatch = async ({ password }) => {
  await setImmediate();
  return String(password) === RIGHT.password;
};

/** Checks passwords for clients that may disconnect. */
function createAsking(isMatch: IsMatch = compare, onError: (error: unknown) => void = () => {}) {
  return asking(createPasswordCheck(onError, isMatch));
}

function asking(check: ReturnType<typeof createPasswordCheck>) {
  return ({ password, hash = CHEAP, user = "u", client = "192.0.2.1" }: Asked) => {
    let isGone = false;
    const attempt = { user, password: Buffer.from(password), hash, origin: `${client} ${user}` };
    const result: Promise<CheckResult> = check({ ...attempt, isGone: () => isGone });
    return { result, giveUp: () => void (isGone = true) };
  };
}

/** Guesses of one client; the first one is being checked. */
function guess(ask: ReturnType<typeof createAsking>, count: number) {
  return Array.from({ length: count }, (_, nth) => ask({ password: `guess ${nth}` }));
}

test("a password that no request waits for is not checked", async () => {
  const ask = createAsking();
  const [first, ...gone] = guess(ask, 101);
  for (const { giveUp } of gone) giveUp();
  expect(new Set(await Promise.all(gone.map(({ result }) => result)))).toEqual(new Set(["busy"]));
  const right = ask(RIGHT);
  expect(await right.result).toBe("right");
  expect(await first?.result).toBe("wrong");
});

test("the result of a started check is cached even if no request waits for it", async () => {
  const ask = createAsking();
  const first = ask(RIGHT);
  first.giveUp();
  expect(await first.result).toBe("right");
  const checked = ask({ password: "expensive" });
  expect(await ask(RIGHT).result).toBe("right");
  expect(await checked.result).toBe("wrong");
});

test("after five seconds a password no longer waits", async () => {
  const ask = createAsking();
  const checked = ask({ password: "is being checked" });
  const waiting = ask({ password: "waits" });
  vi.advanceTimersByTime(4999);
  const last = ask({ password: "came later" });
  vi.advanceTimersByTime(1);
  expect(await waiting.result).toBe("busy");
  expect([await checked.result, await last.result]).toEqual(["busy", "wrong"]);
});

test.each([
  { name: "another client", who: { client: "192.0.2.2" } },
  { name: "another user at the same client", who: { user: "scraper" } },
  { name: "the latest for the same user at the same client", who: {} },
])("$name waits for one check, regardless of how many guesses wait", async ({ who }) => {
  const ask = createAsking();
  const guesses = guess(ask, 200);
  let decided = 0;
  for (const { result } of guesses) void result.then((word) => (decided += word === "busy" ? 0 : 1));
  expect(await ask({ ...RIGHT, ...who }).result).toBe("right");
  expect(decided).toBe(1);
  for (const { giveUp } of guesses) giveUp();
});

test("at most a hundred guesses wait: one more displaces the oldest guess of the client with the most wrong ones", async () => {
  const ask = createAsking();
  const [checked, oldest, second, ...others] = guess(ask, 101);
  const turnedAway: string[] = [];
  for (const [name, asked] of Object.entries({ checked, oldest, second }))
    void asked?.result.then((result) => turnedAway.push(`${name} ${result}`));
  const newcomer = ask({ ...RIGHT, client: "192.0.2.2" });
  expect(await oldest?.result).toBe("busy");
  expect(await newcomer.result).toBe("right");
  expect(turnedAway).toEqual(["oldest busy", "checked wrong"]);
  for (const asked of [second, ...others]) asked?.giveUp();
});

test("guesses that go on displace each other, and none that waits of another client, also before the first was checked", async () => {
  const ask = createAsking();
  const guesses = guess(ask, 101);
  const newcomer = ask({ ...RIGHT, client: "192.0.2.2" });
  const more = guess(ask, 150);
  expect(await newcomer.result).toBe("right");
  for (const asked of [...guesses, ...more]) asked.giveUp();
});

test("a thread that fails is replaced for the next password, and its error is reported once until a check succeeds", async () => {
  const errors: string[] = [];
  const ask = asking(createPasswordCheck((error) => errors.push(String(error))));
  const broken = { password: "any", hash: "no bcrypt hash" };
  expect(await ask(broken).result).toBe("failed");
  expect(await ask(broken).result).toBe("failed");
  expect(errors).toEqual(["Error: Hash should be 60 bytes long"]);
  expect(await ask(RIGHT).result).toBe("right");
  expect(await ask(broken).result).toBe("failed");
  expect(errors).toHaveLength(2);
});

test("a password longer than the 72 bytes that bcrypt uses is refused, and so is an empty one", async () => {
  const ask = asking(createPasswordCheck(() => {}));
  const longest = "x".repeat(72);
  const hash = await bcrypt({ password: longest, salt: Buffer.alloc(16), costFactor: 4 });
  expect(await ask({ password: longest, hash }).result).toBe("right");
  expect(await ask({ password: `${longest}x`, hash }).result).toBe("wrong");
  expect(await ask({ password: "", hash }).result).toBe("wrong");
});

test("guesses from 130 addresses, one at a time each, delay a client that has never failed by two checks at most", async () => {
  const ask = createAsking();
  const guessOf = (nth: number, round: number) =>
    ask({ hash: CHEAP, password: `guess ${nth} ${round}`, client: `198.51.100.${nth}` }).result;
  const addresses = Array.from({ length: 130 }, (_, nth) => nth);
  // Those beyond a hundred are turned away at first, and have failed once all were checked.
  for (let round = 0; round < 2; round += 1) await Promise.all(addresses.map((nth) => guessOf(nth, round)));
  const guesses = addresses.map((nth) => guessOf(nth, 2));
  let decided = 0;
  for (const result of guesses) void result.then((word) => (decided += word === "busy" ? 0 : 1));
  expect(await ask({ ...RIGHT, client: "192.0.2.2" }).result).toBe("right");
  expect(decided).toBeLessThanOrEqual(2);
  await Promise.all(guesses);
});

test("passwords of origins that have not failed come first, and of equals the latest", async () => {
  const ask = createAsking();
  const origins = { guesser: "192.0.2.1", stranger: "192.0.2.2" };
  const askAs = (origin: keyof typeof origins, age: string) =>
    ask({ password: `${age} of the ${origin}`, hash: CHEAP, client: origins[origin] });
  expect(await askAs("guesser", "first").result).toBe("wrong");
  const checked = ask({ password: "is being checked" });
  const order: string[] = [];
  const asked = (["guesser", "stranger"] as const).flatMap((origin) =>
    ["old", "new"].map(async (age) => {
      await askAs(origin, age).result;
      order.push(`${age} of the ${origin}`);
    }),
  );
  await Promise.all([checked.result, ...asked]);
  // The stranger's first password is wrong: from then on it has failed too.
  expect(order).toEqual([
    "new of the stranger",
    "old of the stranger",
    "new of the guesser",
    "old of the guesser",
  ]);
});

test.each([
  { name: "of 1,024 origins that fail each is known to", count: 1024, first: "the stranger" },
  { name: "one origin more that fails makes all others forgotten", count: 1025, first: "origin 0" },
])("$name, and stands behind a stranger", async ({ count, first }) => {
  const held: ((isRight: boolean) => void)[] = [];
  const isMatch = (password: string): Promise<boolean> =>
    password === "held" ? new Promise((resolve) => void held.push(resolve)) : Promise.resolve(false);
  const check = createPasswordCheck(
    () => {},
    ({ password }) => isMatch(String(password)),
  );
  const order: string[] = [];
  const ask = async (origin: string, password: string): Promise<void> => {
    await check({ user: "u", password: Buffer.from(password), hash: CHEAP, origin, isGone: () => false });
    order.push(origin);
  };
  for (let nth = 0; nth < count; nth += 1) await ask(`origin ${nth}`, `guess ${nth}`);
  order.length = 0;
  const asked = [
    ask("the holder", "held"),
    ask("origin 0", "another guess"),
    ...["one", "other"].map((password) => ask("the stranger", password)),
  ];
  for (const resolve of held) resolve(true);
  await Promise.all(asked);
  expect(order.slice(0, 2)).toEqual(["the holder", first]);
});
