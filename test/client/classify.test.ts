import { errors } from "undici";
import { expect, test } from "vitest";

import { ConnectionError, FAILURE_REASONS, failureFrom, meaningOf } from "../../src/client/failure.ts";

const coded = (code: string, more: object = {}) => Object.assign(new Error("it failed"), { code, ...more });

test.each([
  ["ECONNREFUSED", "connect"],
  ["ECONNRESET", "connect"],
  ["EHOSTUNREACH", "connect"],
  ["ENETUNREACH", "connect"],
  ["EPIPE", "connect"],
  ["ETIMEDOUT", "timeout"],
  ["EMFILE", "local"],
  ["ENFILE", "local"],
  ["ENOBUFS", "local"],
  ["ENOMEM", "local"],
  ["EADDRNOTAVAIL", "local"],
  ["CERT_HAS_EXPIRED", "tls"],
  ["ERR_SSL_WRONG_VERSION_NUMBER", "tls"],
  ["EPROTO", "tls"],
] as const)("%s during the handshake is %s", (code, reason) => {
  expect(failureFrom(coded(code), "tls").reason).toBe(reason);
});

test.each([
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "tls"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "tls"],
  ["ECONNRESET", "connect"],
  ["UND_ERR_SOCKET", "protocol"],
  ["UND_ERR_HEADERS_OVERFLOW", "protocol"],
  ["UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "protocol"],
  ["EMFILE", "local"],
  ["ERR_INVALID_ARG_TYPE", "internal"],
  ["ERR_ASSERTION", "protocol"],
] as const)("%s on a connection is %s", (code, reason) => {
  expect(failureFrom(coded(code), "connected").reason).toBe(reason);
});

test.each(["ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EAI_FAIL"])("%s of a name lookup is dns", (code) => {
  expect(failureFrom(coded(code, { syscall: "getaddrinfo" }), "lookup").reason).toBe("dns");
});

test.each(["EMFILE", "ENFILE", "ENOMEM", "EAI_MEMORY"])("%s of a name lookup is local", (code) => {
  expect(failureFrom(coded(code, { syscall: "getaddrinfo" }), "lookup").reason).toBe("local");
});

test("an error of the parser is protocol, with a code or without", () => {
  expect(failureFrom(coded("HPE_INVALID_CONSTANT", { name: "HTTPParserError" }), "connected").reason).toBe(
    "protocol",
  );
  expect(failureFrom(new errors.HTTPParserError("bad"), "connected").reason).toBe("protocol");
});

test("a ConnectionError keeps its reason", () => {
  expect(failureFrom(new ConnectionError("proxy", "no"), "tls").reason).toBe("proxy");
});

test.each([new TypeError("x is not a function"), "text", undefined])(
  "an error without a code is a bug: %s",
  (error) => {
    expect(failureFrom(error, "connected").reason).toBe("internal");
  },
);

test.each([
  [["ECONNREFUSED", "ECONNREFUSED"], "connect"],
  [["ECONNREFUSED", "EMFILE"], "local"],
  [["EADDRNOTAVAIL", "ECONNREFUSED"], "connect"],
  [["EADDRNOTAVAIL", "EADDRNOTAVAIL"], "local"],
] as const)("attempts on several addresses that fail with %j are %s", (codes, reason) => {
  const error = Object.assign(new AggregateError(codes.map((code) => coded(code))), { code: codes[0] });
  expect(failureFrom(error, "connect").reason).toBe(reason);
});

test("an error is described in one line, with its code once", () => {
  const cases = [
    [coded("ECONNRESET"), "ECONNRESET: it failed"],
    [new Error("connect ECONNREFUSED 127.0.0.1:1"), "connect ECONNREFUSED 127.0.0.1:1"],
    [coded("ENETUNREACH", { message: "connect ENETUNREACH ::1 - Local (:::0)" }), "connect ENETUNREACH ::1"],
    [coded("ERR_ASSERTION"), "the answer has a status that is invalid for this request"],
    ["text", "unknown error"],
  ] as const;
  expect(cases.map(([error]) => failureFrom(error, "connected").message)).toEqual(
    cases.map(([, words]) => words),
  );
});

test.each([
  [coded("ECONNREFUSED"), "proxy", "the proxy does not connect (ECONNREFUSED: it failed)"],
  [coded("ETIMEDOUT"), "proxy", "the proxy does not connect (ETIMEDOUT: it failed)"],
  [coded("EMFILE"), "local", "the proxy does not connect (EMFILE: it failed)"],
  [new ConnectionError("proxy", "no tunnel"), "proxy", "no tunnel"],
])("an error at the proxy is its failure: %s", (error, reason, message) => {
  expect(failureFrom(error, "proxy")).toEqual({ reason, message });
});

test("a reason says whether the appliance is lost, refuses, or is not known, and whether its other polls would fail too", () => {
  const meanings = ["lost", "refused", "unknown"].map((appliance) =>
    FAILURE_REASONS.filter((reason) => meaningOf(reason).appliance === appliance).join(" "),
  );
  expect(meanings).toEqual([
    "connect timeout appliance_down",
    "tls auth http_status protocol too_large decode unsupported",
    "dns proxy secret stalled local internal",
  ]);
  const stopping = FAILURE_REASONS.filter((reason) => meaningOf(reason).stopsOtherPolls === true);
  expect(stopping.join(" ")).toBe("dns connect tls timeout auth proxy");
});
