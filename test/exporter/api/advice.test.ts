import { expect, test } from "vitest";
import {
  adviceOn,
  adviceOnWebsites,
  FAILURE_CODES,
  type AdviceFacts,
  type FailureCode,
} from "../../../src/exporter/api/advice.ts";
import { FAILURE_REASONS, type FailureReason } from "../../../src/exporter/api/failure.ts";

const CONFIGURED: AdviceFacts = {
  baseUrl: "https://192.0.2.11:4849",
  listPath: "/list",
  user: { name: "monitor", passwordFile: "/etc/password" },
};

function advice(reason: FailureReason, code?: FailureCode, facts?: AdviceFacts): string {
  return adviceOn({ reason, message: "", ...(code && { code }) }, facts);
}

const ALL: readonly (readonly [FailureReason, FailureCode | undefined])[] = [
  ...FAILURE_REASONS.map((reason) => [reason, undefined] as const),
  ...FAILURE_CODES.map((code) => ["tls", code] as const),
];

test.each(ALL)("the advice on %s %s is one sentence, with and without a configuration", (reason, code) => {
  for (const facts of [undefined, CONFIGURED]) {
    const sentence = advice(reason, code, facts);
    expect(sentence).toMatch(/^[A-Z].*[^.]$/);
    expect(sentence).not.toMatch(/\. |undefined|null/);
    expect(sentence.length).toBeLessThanOrEqual(180);
  }
});

test("each failure has advice of its own", () => {
  const sentences = ALL.map(([reason, code]) => advice(reason, code));
  expect(new Set(sentences).size).toBe(ALL.length);
});

const USER = { name: "monitor" };

test.each<readonly [FailureReason, FailureCode | undefined, AdviceFacts, string]>([
  ["auth", undefined, { user: null }, "The appliance demands credentials: set http_client.basic_auth"],
  ["auth", undefined, {}, "Check the user, its permissions on the appliance, and the password"],
  [
    "auth",
    undefined,
    { user: USER },
    'Check user "monitor", its permissions on the appliance, and the password',
  ],
  [
    "auth",
    undefined,
    { user: { ...USER, passwordFile: "p" } },
    'Check user "monitor", its permissions on the appliance, and the password in "p"',
  ],
  [
    "http_status",
    "gone",
    CONFIGURED,
    "Check the port and the path of https://192.0.2.11:4849: the exporter adds /list",
  ],
])("the advice on %s %s names what is configured: %j", (reason, code, facts, expected) => {
  expect(advice(reason, code, facts)).toBe(expected);
});

const PLAIN = { baseUrl: "http://192.0.2.11:4849" };
const PORTLESS = { baseUrl: "https://192.0.2.11" };

test.each<readonly [FailureReason, FailureCode | undefined, number | undefined, AdviceFacts, FailureCode]>([
  ["connect", "refused", undefined, PORTLESS, "no_port"],
  ["timeout", undefined, undefined, PORTLESS, "no_port"],
  ["tls", "legacy_tls", undefined, PORTLESS, "legacy_tls"],
  ["protocol", undefined, undefined, PLAIN, "maybe_tls"],
  ["connect", "reset", undefined, PLAIN, "maybe_tls"],
  ["connect", "closed", undefined, PLAIN, "maybe_tls"],
  ["connect", "refused", undefined, PLAIN, "refused"],
  ["http_status", undefined, 400, PLAIN, "maybe_tls"],
  ["connect", "reset", undefined, CONFIGURED, "reset"],
])("%s %s with status %j and %j has the advice on %s", (reason, code, status, facts, expected) => {
  const failure = { reason, message: "", ...(code && { code }), ...(status !== undefined && { status }) };
  expect(adviceOn(failure, facts)).toBe(advice("tls", expected));
});

test("a status that says that nothing is at the path has the advice on the path", () => {
  const failure = { reason: "http_status", message: "", isGone: true } as const;
  expect(adviceOn(failure)).toBe(advice("tls", "gone"));
});

test.each([
  [[2], undefined, "the id 2: correct"],
  [[2, 3], [1, 7], "the ids 2 and 3, it has 1 and 7: correct"],
  [[2], [], "the id 2, it has none: correct"],
])("the advice on the ids %j names those that there are: %j", (ids, known, words) => {
  expect(adviceOnWebsites(ids, known)).toBe(
    `The appliance has no website with ${words} websites, or set website_discovery: true`,
  );
});
