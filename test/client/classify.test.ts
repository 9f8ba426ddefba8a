import { errors } from "undici";
import { expect, test } from "vitest";

import {
  classifyError,
  ConnectionError,
  describeError,
  FAILURE_REASONS,
  meaningOf,
} from "../../src/client/failure.ts";

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
  expect(classifyError(coded(code), "tls")).toBe(reason);
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
  ["ERR_ASSERTION", "internal"],
] as const)("%s on a connection is %s", (code, reason) => {
  expect(classifyError(coded(code), "connected")).toBe(reason);
});

test.each(["ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "EAI_FAIL"])("%s of a name lookup is dns", (code) => {
  expect(classifyError(coded(code, { syscall: "getaddrinfo" }), "lookup")).toBe("dns");
});

test.each(["EMFILE", "ENFILE", "ENOMEM", "EAI_MEMORY"])("%s of a name lookup is local", (code) => {
  expect(classifyError(coded(code, { syscall: "getaddrinfo" }), "lookup")).toBe("local");
});

test("an error of the parser is protocol, with a code or without", () => {
  expect(classifyError(coded("HPE_INVALID_CONSTANT", { name: "HTTPParserError" }), "connected")).toBe(
    "protocol",
  );
  expect(classifyError(new errors.HTTPParserError("bad"), "connected")).toBe("protocol");
});

test("a ConnectionError keeps its reason", () => {
  expect(classifyError(new ConnectionError("proxy", "no"), "tls")).toBe("proxy");
});

test.each([new TypeError("x is not a function"), "text", undefined])(
  "an error without a code is a bug: %s",
  (error) => {
    expect(classifyError(error, "connected")).toBe("internal");
  },
);

test.each([
  [["ECONNREFUSED", "ECONNREFUSED"], "connect"],
  [["ECONNREFUSED", "EMFILE"], "local"],
  [["EADDRNOTAVAIL", "ECONNREFUSED"], "connect"],
  [["EADDRNOTAVAIL", "EADDRNOTAVAIL"], "local"],
] as const)("attempts on several addresses that fail with %j are %s", (codes, reason) => {
  const error = Object.assign(new AggregateError(codes.map((code) => coded(code))), { code: codes[0] });
  expect(classifyError(error, "connect")).toBe(reason);
});

test("an error is described in one line, with its code once and its cause", () => {
  expect(describeError(coded("ECONNRESET"))).toBe("ECONNRESET: it failed");
  expect(describeError(new Error("connect ECONNREFUSED 127.0.0.1:1"))).toBe(
    "connect ECONNREFUSED 127.0.0.1:1",
  );
  expect(describeError(new ConnectionError("proxy", "no tunnel", coded("EPIPE")))).toBe(
    "no tunnel (EPIPE: it failed)",
  );
  expect(describeError("text")).toBe("unknown error");
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
