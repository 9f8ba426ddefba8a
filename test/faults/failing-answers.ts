import { answers, LIST, says } from "./behaviours.ts";
import { http } from "./endpoints.ts";
import type { FailingPoll } from "./failing-polls.ts";

const LOGIN_PAGE = "<!doctype html><title>Login</title><form action=/login></form>";
const NESTING = "$: expected at most 8 levels of nesting";
const TOO_LONG = "the body has more than 262144 bytes";

/** Answers that arrive whole and are no list. */
export const FAILING_ANSWERS: readonly FailingPoll[] = [
  {
    fault: 7,
    name: "204",
    open: http(says("HTTP/1.1 204 No Content\r\n\r\n")),
    reason: "http_status",
    detail: "answered with status 204",
  },
  {
    fault: 7,
    name: "302",
    open: http(answers(LIST, "302 Found", ["Location: /elsewhere"])),
    reason: "http_status",
    detail: "answered with status 302",
  },
  {
    fault: 7,
    name: "500",
    open: http(answers(LIST, "500 Internal Server Error")),
    reason: "http_status",
    detail: "answered with status 500",
  },
  {
    fault: 7,
    name: "999",
    open: http(answers(LIST, "999 Odd")),
    reason: "http_status",
    detail: "answered with status 999",
  },
  {
    fault: 8,
    name: "401",
    open: http(answers("{}", "401 Unauthorized")),
    reason: "auth",
    detail: "answered with status 401",
  },
  {
    fault: 8,
    name: "403",
    open: http(answers("{}", "403 Forbidden")),
    reason: "auth",
    detail: "answered with status 403",
  },
  {
    fault: 16,
    name: "a login page with status 200",
    open: http(answers(LOGIN_PAGE)),
    reason: "decode",
    detail: "$: expected JSON, got markup",
  },
  {
    fault: 16,
    name: "an empty body",
    open: http(answers("")),
    reason: "decode",
    detail: "$: expected JSON, got nothing",
  },
  {
    fault: 16,
    name: "JSON of another shape",
    open: http(answers('["carp0"]')),
    reason: "decode",
    detail: "$: expected an object of interfaces, got an array",
  },
  {
    fault: 16,
    name: "a piece of JSON",
    open: http(answers(LIST.slice(0, -2))),
    reason: "decode",
    detail: "$: expected JSON, got text that is not JSON",
  },
  {
    fault: 18,
    name: "arrays nested a million deep",
    open: http(answers(nested("[", "]", 1e6))),
    reason: "too_large",
    detail: TOO_LONG,
  },
  {
    fault: 18,
    name: "a member nested 100,000 deep",
    open: http(answers(`${LIST.slice(0, -1)},"carp1":${nested("[", "]", 1e5)}}`)),
    reason: "too_large",
    detail: NESTING,
  },
  {
    fault: 18,
    name: "50,000 objects that never end",
    open: http(answers(nested('{"a":', "", 5e4))),
    reason: "too_large",
    detail: NESTING,
  },
  {
    fault: 21,
    name: "100,000 interfaces",
    open: http(answers(manyInterfaces(100_000))),
    reason: "too_large",
    detail: TOO_LONG,
  },
  {
    fault: 21,
    name: "1,025 interfaces",
    open: http(answers(manyInterfaces(1025))),
    reason: "too_large",
    detail: "$: expected at most 1024 members",
  },
  {
    fault: 44,
    name: "a list of 256 KiB and one byte",
    open: http(answers(LIST.padEnd(256 * 1024 + 1))),
    reason: "too_large",
    detail: TOO_LONG,
  },
  {
    fault: 44,
    name: "256 KiB in chunks of one byte",
    open: http(
      says(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\n \r\n".repeat(256 * 1024)}`),
    ),
    reason: "too_large",
    detail: "the body has more than 16384 chunks",
  },
  {
    fault: 44,
    name: "65 members of one interface",
    open: http(answers(`{"carp0":{"":1${',"":1'.repeat(64)}}}`)),
    reason: "too_large",
    detail: "$: expected at most 64 members in each member",
  },
];

function manyInterfaces(count: number): string {
  return JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, nth) => [`carp${nth}`, {}])));
}

function nested(open: string, close: string, depth: number): string {
  return open.repeat(depth) + close.repeat(depth);
}
