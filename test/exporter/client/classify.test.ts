import { expect, test } from "vitest";
import { FAILURE_REASONS, meaningOf } from "../../../src/exporter/api/failure.ts";
import { ConnectionError, failureFrom } from "../../../src/exporter/client/failure.ts";

const coded = (code: string, more: object = {}) => Object.assign(new Error("it failed"), { code, ...more });

test.each([
  ["lookup", "dns", "ENOTFOUND EAI_AGAIN ETIMEDOUT EAI_FAIL"],
  ["lookup", "local", "EMFILE ENFILE ENOMEM EAI_MEMORY"],
  ["proxy", "proxy", "ECONNREFUSED ETIMEDOUT ECONNRESET HPE_INVALID_CONSTANT"],
  ["proxy", "local", "EMFILE EADDRNOTAVAIL"],
  ["tls", "connect", "ECONNREFUSED ECONNRESET EHOSTUNREACH ENETUNREACH EPIPE"],
  ["tls", "timeout", "ETIMEDOUT"],
  ["tls", "local", "EMFILE ENFILE ENOBUFS ENOMEM EADDRNOTAVAIL"],
  ["tls", "tls", "CERT_HAS_EXPIRED ERR_SSL_WRONG_VERSION_NUMBER EPROTO"],
  ["connected", "tls", "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ERR_TLS_CERT_ALTNAME_INVALID"],
  ["connected", "connect", "ECONNRESET"],
  ["connected", "protocol", "UND_ERR_SOCKET UND_ERR_HEADERS_OVERFLOW UND_ERR_RES_CONTENT_LENGTH_MISMATCH"],
  ["connected", "protocol", "ERR_ASSERTION"],
  ["connected", "local", "EMFILE"],
  ["connected", "internal", "ERR_INVALID_ARG_TYPE"],
] as const)("at the stage %s, a failure is %s with the code %s", (stage, reason, codes) => {
  const reasons = codes.split(" ").map((code) => failureFrom(coded(code), stage).reason);
  expect(new Set(reasons)).toEqual(new Set([reason]));
});

test.each([
  ["protocol", coded("HPE_INVALID_CONSTANT", { name: "HTTPParserError" })],
  ["protocol", Object.assign(new Error("it failed"), { name: "HTTPParserError" })],
  ["proxy", new ConnectionError("proxy", "no")],
  ["internal", new TypeError("x is not a function")],
  ["internal", "text"],
  ["internal", undefined],
] as const)("a failure is %s with the error %s", (reason, error) => {
  expect(failureFrom(error, "connected").reason).toBe(reason);
});

test.each([
  [["ECONNREFUSED", "ECONNREFUSED"], "connect"],
  [["ECONNREFUSED", "EMFILE"], "local"],
  [["EADDRNOTAVAIL", "ECONNREFUSED"], "connect"],
  [["EADDRNOTAVAIL", "EADDRNOTAVAIL"], "local"],
] as const)("attempts on several addresses that fail with %j are %s", (codes, reason) => {
  const error = Object.assign(new AggregateError(codes.map((code) => coded(code))), { code: codes[0] });
  expect(failureFrom(error, "connect").reason).toBe(reason);
});

test.each([
  [coded("ECONNRESET"), "connected", "ECONNRESET: it failed"],
  [new Error("connect ECONNREFUSED 127.0.0.1:1"), "connected", "connect ECONNREFUSED 127.0.0.1:1"],
  [new Error("connect ENETUNREACH ::1 - Local (:::0)"), "connected", "connect ENETUNREACH ::1"],
  [coded("ERR_ASSERTION"), "connected", "the answer has a status that is invalid for this request"],
  [coded("ECONNREFUSED"), "proxy", "the proxy does not connect (ECONNREFUSED: it failed)"],
  [new ConnectionError("proxy", "no tunnel"), "proxy", "no tunnel"],
  ["text", "connected", "unknown error"],
] as const)("%s at the stage %s is described in one line", (error, stage, message) => {
  expect(failureFrom(error, stage).message).toBe(message);
});

test("a reason says whether the appliance is lost, refuses, or is not known, and whether its other polls would fail too", () => {
  const meanings = ["lost", "refused", "unknown"].map((appliance) =>
    FAILURE_REASONS.filter((reason) => meaningOf(reason).appliance === appliance).join(" "),
  );
  expect(meanings).toEqual([
    "connect timeout appliance_down",
    "tls auth http_status protocol too_large decode unsupported vip",
    "dns proxy secret stalled local internal",
  ]);
  const stopping = FAILURE_REASONS.filter((reason) => meaningOf(reason).stopsOtherPolls === true);
  expect(stopping.join(" ")).toBe("dns connect tls timeout auth vip proxy");
});
