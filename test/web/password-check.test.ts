import { bcrypt } from "hash-wasm";
import { expect, test } from "vitest";
import { compareClaims, createPasswordCheck, type Claim, type Verdict } from "../../src/web/guard.ts";
import { HASH } from "./support.ts";

/** Takes about a tenth of a second. */
const EXPENSIVE = `$2b$11$${".".repeat(53)}`;
const RIGHT = { password: "correct horse", hash: `$2y$${HASH}` };

interface Asked {
  readonly password: string;
  readonly hash?: string;
  readonly user?: string;
  readonly client?: string;
}

/** Checks passwords for clients that may disconnect. */
function createAsking() {
  const check = createPasswordCheck();
  return ({ password, hash = EXPENSIVE, user = "u", client = "192.0.2.1" }: Asked) => {
    const patience = new AbortController();
    const attempt = { user, password: Buffer.from(password), hash, origin: `${client} ${user}` };
    const verdict: Promise<Verdict> = check(attempt, patience.signal);
    return { verdict, giveUp: () => patience.abort() };
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
  expect(new Set(await Promise.all(gone.map(({ verdict }) => verdict)))).toEqual(new Set(["busy"]));
  const right = ask(RIGHT);
  expect(await right.verdict).toBe("right");
  expect(await first?.verdict).toBe("wrong");
});

test("the result of a started check is cached even if no request waits for it", async () => {
  const ask = createAsking();
  const first = ask(RIGHT);
  first.giveUp();
  expect(await first.verdict).toBe("busy");
  expect(await ask({ password: "expensive" }).verdict).toBe("wrong");
  const again = ask(RIGHT);
  again.giveUp();
  expect(await again.verdict).toBe("right");
});

test.each([
  { name: "another client", who: { client: "192.0.2.2" } },
  { name: "another user at the same client", who: { user: "scraper" } },
  { name: "the latest for the same user at the same client", who: {} },
])("$name waits for one check, regardless of how many guesses wait", async ({ who }) => {
  const ask = createAsking();
  const guesses = guess(ask, 200);
  let decided = 0;
  for (const { verdict } of guesses) void verdict.then((word) => (decided += word === "busy" ? 0 : 1));
  expect(await ask({ ...RIGHT, ...who }).verdict).toBe("right");
  expect(decided).toBe(1);
  for (const { giveUp } of guesses) giveUp();
});

test("at most a hundred guesses wait: one more displaces the oldest guess of the client with the most wrong ones", async () => {
  const ask = createAsking();
  const [checked, oldest, second, ...others] = guess(ask, 101);
  const turnedAway: string[] = [];
  for (const [name, asked] of Object.entries({ checked, oldest, second }))
    void asked?.verdict.then((verdict) => turnedAway.push(`${name} ${verdict}`));
  const newcomer = ask({ ...RIGHT, client: "192.0.2.2" });
  expect(await oldest?.verdict).toBe("busy");
  expect(await newcomer.verdict).toBe("right");
  expect(turnedAway).toEqual(["oldest busy", "checked wrong"]);
  for (const asked of [second, ...others]) asked?.giveUp();
});

test("a thread that fails is replaced for the next password", async () => {
  const ask = createAsking();
  await expect(ask({ password: "any", hash: "no bcrypt hash" }).verdict).rejects.toThrow("60 bytes long");
  expect(await ask(RIGHT).verdict).toBe("right");
});

test("a password longer than the 72 bytes that bcrypt uses is refused, and so is an empty one", async () => {
  const ask = createAsking();
  const longest = "x".repeat(72);
  const hash = await bcrypt({ password: longest, salt: Buffer.alloc(16), costFactor: 4 });
  expect(await ask({ password: longest, hash }).verdict).toBe("right");
  expect(await ask({ password: `${longest}x`, hash }).verdict).toBe("wrong");
  expect(await ask({ password: "", hash }).verdict).toBe("wrong");
});

test("guesses from 130 addresses, one at a time each, delay a client that has never failed by two checks at most", async () => {
  const ask = createAsking();
  const cheap = { hash: `$2b$04$${".".repeat(53)}` };
  const guessOf = (nth: number, round: number) =>
    ask({ ...cheap, password: `guess ${nth} ${round}`, client: `198.51.100.${nth}` }).verdict;
  const addresses = Array.from({ length: 130 }, (_, nth) => nth);
  // Those beyond a hundred are turned away at first, and have failed once all were checked.
  for (let round = 0; round < 2; round += 1) await Promise.all(addresses.map((nth) => guessOf(nth, round)));
  const guesses = addresses.map((nth) => guessOf(nth, 2));
  let decided = 0;
  for (const verdict of guesses) void verdict.then((word) => (decided += word === "busy" ? 0 : 1));
  expect(await ask({ ...RIGHT, client: "192.0.2.2" }).verdict).toBe("right");
  expect(decided).toBeLessThanOrEqual(2);
  await Promise.all(guesses);
});

const claim = (isFailing: boolean, firstAsked?: number): Claim => ({ isFailing, firstAsked });

test.each([
  { first: "of another origin than guesses", one: claim(false), next: "an old one", other: claim(true, 1) },
  { first: "that comes again", one: claim(true, 7), next: "a new guess", other: claim(true) },
  { first: "that came earlier", one: claim(true, 1), next: "a later one", other: claim(true, 2) },
  { first: "of a new origin that comes again", one: claim(false, 7), next: "a new one", other: claim(false) },
])("a password $first is checked before $next", ({ one, other }) => {
  expect(compareClaims(one, other)).toBeLessThan(0);
  expect(compareClaims(other, one)).toBeGreaterThan(0);
});

test("behind one address with one user name, a password that comes again is checked before all new guesses", async () => {
  const ask = createAsking();
  expect(await ask({ password: "a first guess" }).verdict).toBe("wrong");
  const checked = ask({ password: "is being checked" });
  const first = ask(RIGHT);
  const guesses = guess(ask, 150);
  expect(await first.verdict).toBe("busy");
  const again = ask(RIGHT);
  guesses.push(...guess(ask, 150));
  let decided = 0;
  for (const { verdict } of guesses) void verdict.then((word) => (decided += word === "busy" ? 0 : 1));
  expect(await again.verdict).toBe("right");
  expect(await checked.verdict).toBe("wrong");
  expect(decided).toBe(0);
  for (const { giveUp } of guesses) giveUp();
});

test("of passwords that come again the oldest is checked first, however often others come", async () => {
  const ask = createAsking();
  const cheap = { hash: `$2b$04$${".".repeat(53)}` };
  expect(await ask({ ...cheap, password: "a first guess" }).verdict).toBe("wrong");
  const checked = ask({ password: "is being checked" });
  const older = ask({ ...cheap, password: "older" });
  const first = ask(RIGHT);
  const younger = Array.from({ length: 150 }, (_, nth) => ask({ ...cheap, password: `younger ${nth}` }));
  const asked = [older, first, ...younger];
  for (const { giveUp } of asked) giveUp();
  const right = ask(RIGHT);
  const olderAgain = ask({ ...cheap, password: "older" });
  const others = younger.map((_, nth) => ask({ ...cheap, password: `younger ${nth}` }));
  const order: string[] = [];
  const note = (name: string) => (verdict: Verdict) => void (verdict !== "busy" && order.push(name));
  for (const { verdict } of others) void verdict.then(note("younger"));
  void olderAgain.verdict.then(note("older"));
  void right.verdict.then(note("right"));
  expect(await right.verdict).toBe("right");
  expect(order).toEqual(["older", "right"]);
  for (const { giveUp } of others) giveUp();
  await checked.verdict;
});

test("a wrong password is remembered, and refused at once while another one is checked", async () => {
  const ask = createAsking();
  const known = { password: "wrong", hash: RIGHT.hash };
  expect(await ask(known).verdict).toBe("wrong");
  const checked = ask({ password: "expensive" });
  expect(await Promise.race([checked.verdict.then(() => "checked"), ask(known).verdict])).toBe("wrong");
  expect(await checked.verdict).toBe("wrong");
});
