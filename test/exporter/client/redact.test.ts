import * as fc from "fast-check";
import { expect, test } from "vitest";
import { decodeText } from "../../../src/exporter/api/text.ts";
import { createRedact } from "../../../src/exporter/client/credentials.ts";

const PASSWORD = 'c4n/"ry\\ä😀';
const TOKEN = Buffer.from(`monitor:${PASSWORD}`).toString("base64");
const redact = createRedact(`Basic ${TOKEN}`, PASSWORD);

test.each([
  ["the plain password", PASSWORD, "<secret>"],
  ["the password within a text", `x${PASSWORD}y${PASSWORD}`, "x<secret>y<secret>"],
  ["the password in JSON", JSON.stringify({ a: PASSWORD }), '{"a":"<secret>"}'],
  ["with slashes escaped", JSON.stringify(PASSWORD).replace("/", "\\/"), '"<secret>"'],
  ["with all escaped", `"\\u0063\\u0034\\u006E\\u002f\\u0022ry\\u005c\\u00E4\\ud83D\\uDE00"`, '"<secret>"'],
  ["the header", `Authorization: Basic ${TOKEN}`, "Authorization: Basic <secret>"],
  ["the token without its padding", TOKEN.replace(/=+$/, ""), "<secret>"],
  ["the password in base64", Buffer.from(PASSWORD).toString("base64"), "<secret>"],
  ["the password in base64 for URLs", Buffer.from(PASSWORD).toString("base64url"), "<secret>"],
  ["the password percent-encoded", `/?p=${encodeURIComponent(PASSWORD)}`, "/?p=<secret>"],
  ["the token in JSON", JSON.stringify(TOKEN).replaceAll("/", "\\/"), '"<secret>"'],
])("%s is replaced", (_, body, expected) => {
  expect(redact(body)).toBe(expected);
});

test("the password is replaced in an answer that is not UTF-8", () => {
  const answer = Buffer.concat([Buffer.from(PASSWORD), Buffer.from([0xff])]);
  expect(redact(decodeText(answer))).toBe("<secret>\uDCFF");
});

/** Control characters occur in no password. @see RFC 7617, 2 */
const unit = fc
  .string({ unit: "binary", minLength: 1, maxLength: 1 })
  .filter((text) => !/\p{Cc}/u.test(text));

test("however JSON escapes it, no value decoded from the answer contains the password", () => {
  const escaped = fc
    .tuple(fc.string({ unit, minLength: 8 }), fc.infiniteStream(fc.boolean()))
    .map(([password, escapes]) => ({ password, escapes }));
  fc.assert(
    fc.property(escaped, fc.string(), ({ password, escapes }, beside) => {
      const text = Array.from({ length: password.length }, (_, i) => {
        const { value: isEscaped } = escapes.next();
        const code = password.charCodeAt(i).toString(16).padStart(4, "0");
        const isPair = /[\ud800-\udfff]/.test(password.charAt(i));
        return isEscaped === true || isPair ? `\\u${code}` : JSON.stringify(password.charAt(i)).slice(1, -1);
      }).join("");
      const body = `{"a":"${text}","b":${JSON.stringify(beside)}}`;
      fc.pre(!body.includes("eDp5"));
      const value: { readonly a: string; readonly b: string } = JSON.parse(
        createRedact("Basic eDp5", password)(body),
      );
      expect(value.a).toBe("<secret>");
      expect(value.b).toBe(beside.replaceAll(password, "<secret>"));
    }),
  );
});

test("a text without the credentials is unchanged", () => {
  for (const text of ["", "carp0", "\uDCFF\uDCFE\0A", PASSWORD.slice(1), TOKEN.slice(1)])
    expect(redact(text)).toBe(text);
});

test("a password that can occur by chance is not redacted, its token is", () => {
  const short = createRedact(`Basic ${Buffer.from("monitor:1").toString("base64")}`, "1");
  expect(short('{"vhid":"1","echo":"Basic bW9uaXRvcjox"}')).toBe('{"vhid":"1","echo":"Basic <secret>"}');
});
