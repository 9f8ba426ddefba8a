import { expect, test } from "vitest";
import { encodeWebsiteTest, formatWebsiteTest } from "../../../src/appliance/encode.ts";
import { decodeWebsiteTest, parseWebsiteTest } from "../../../src/exporter/api/website-test.ts";

const AS_IS = (text: string): string => text;

function blocksOf(text: string) {
  const parsed = parseWebsiteTest(text, AS_IS);
  return parsed.ok ? parsed.value.blocks : parsed.failure;
}

/** `http 301, https 200`. In the text, `#` stands for `HTTP CONNECT ---`. */
function statusesOf(text: string): string {
  const parsed = parseWebsiteTest(text.replaceAll("#", "HTTP CONNECT ---"), AS_IS);
  if (!parsed.ok) return parsed.failure.reason;
  return parsed.value.blocks.map(({ protocol, status }) => `${protocol} ${status}`).join(", ");
}

const SAMPLE = `HTTP CONNECT ------------------------------------------------- HTTP
HTTP/1.1 301 Moved Permanently
Location: https://www.example.org/

HTTP CONNECT ------------------------------------------------- HTTPS
HTTP/1.1 200 OK
Content-Type: text/html

`;

const SAMPLE_BLOCKS = [
  { protocol: "http", status: 301 },
  { protocol: "https", status: 200 },
];

test("reads a test of both protocols", () => {
  expect(blocksOf(SAMPLE)).toEqual(SAMPLE_BLOCKS);
});

test.each([
  ["label HTTP", "# HTTP\nHTTP/1.1 200 OK\n\n", "http 200"],
  ["label HTTPS", "# HTTPS\nHTTP/1.1 200 OK\n\n", "https 200"],
  ["a label that differs from the marker", "HTTPS CONNECT --- HTTP\nHTTP/1.1 200 OK\n\n", "http 200"],
  ["a label on the next line", "#\nHTTPS\nHTTP/1.1 200 OK\n", "https 200"],
  ["a label right behind the dashes", "#HTTPS HTTP/1.1 200 OK", "https 200"],
  ["a label at the end", "# HTTPS", "https 0"],
  [
    "two blocks in a folded text that ends with a line break",
    "# HTTP HTTP/1.1 301 Moved # HTTPS HTTP/1.1 200 OK\n",
    "http 301, https 200",
  ],
  ["no label, folded", "# HTTP/1.1 200 OK", "http 200"],
  ["no label, dashes up to the status line", "HTTPS CONNECT ---HTTP/1.1 200 OK", "https 200"],
  ["no label, status line on the next line", "HTTPS CONNECT ----\nHTTP/1.1 204 \n", "https 204"],
  ["dashes on the next line", "HTTP CONNECT\n----------\nHTTP/1.1 200 OK\n", "http 200"],
  ["dashes on the next line, CRLF", "HTTP CONNECT\r\n---- HTTPS\r\nHTTP/1.1 200 OK\r\n", "https 200"],
  ["dashes right behind the words", "HTTP CONNECT--- HTTP HTTP/1.1 200 OK", "http 200"],
  ["two markers without labels", "# HTTP/1.1 301 M # HTTP/1.1 200 OK", "http 301, https 200"],
  ["two words without labels", "HTTPS CONNECT ---\nHTTP/1.1 200\n\n#\nHTTP/1.1 301\n", "https 200, http 301"],
  ["an empty answer before the next marker", "# # HTTP/1.1 200 OK", "http 0, https 200"],
  ["an empty answer before the next marker, in lines", "#\nHTTPS CONNECT ---\n", "http 0, https 0"],
  ["a labelled empty answer before the next marker", "# HTTP # HTTPS", "http 0, https 0"],
  ["white space before the first marker", " \r\n\t # HTTP\nHTTP/1.1 200 OK\n", "http 200"],
  ["text before the first marker", "Testing... # HTTP HTTP/1.1 200 OK", "http 200"],
  ["lines before the first marker", "HTTP/1.1 500\n# HTTP\nHTTP/1.1 200 OK\n", "http 200"],
  ["two blocks of one protocol, in lines", "# HTTP\nHTTP/1.1 301\n# HTTP\nHTTP/1.1 200\n", "http 301"],
])("reads the protocol from the marker `#`: %s", (_, text, statuses) => {
  expect(statusesOf(text)).toBe(statuses);
});

const FORGED_HTTPS = "X: # HTTPS HTTP/1.1 200 OK";
const FORGED_HTTP = "X: # HTTP HTTP/1.1 200 OK";
const FORGED = "X: # HTTP/1.1 200 OK";

test.each([
  [
    "the protocol after it",
    `# HTTP HTTP/1.1 301 M ${FORGED_HTTPS} # HTTPS HTTP/1.1 503 D`,
    "http 301, https undefined",
  ],
  [
    "the protocol before it",
    `# HTTP HTTP/1.1 503 D # HTTPS HTTP/1.1 200 OK ${FORGED_HTTP}`,
    "http undefined, https 200",
  ],
  ["its own protocol", `# HTTP HTTP/1.1 503 D ${FORGED_HTTP}`, "http undefined"],
  [
    "the protocol after it, without labels",
    `# HTTP/1.1 301 M ${FORGED} # HTTP/1.1 503 D`,
    "http 301, https undefined",
  ],
  [
    "one of two, with a label that the others lack",
    `# HTTP/1.1 301 M ${FORGED_HTTPS} # HTTP/1.1 503 D`,
    "http 301, https undefined",
  ],
  ["three times", `# HTTP HTTP/1.1 503 D ${FORGED_HTTP} ${FORGED_HTTP}`, "http undefined"],
  // Nothing shows that the appliance did not test it.
  ["a protocol that is not tested", `# HTTP HTTP/1.1 503 D ${FORGED_HTTPS}`, "http 503, https 200"],
])("in a folded text, a header that looks like the block of %s never replaces it", (_, text, statuses) => {
  expect(statusesOf(text)).toBe(statuses);
});

test.each([
  "",
  "HTTP/1.1 200 OK",
  "HTTP CONNECT",
  "HTTP CONNECT --",
  "HTTP CONNECT - - -",
  "http connect --- http",
  "XHTTP CONNECT --- HTTP",
  "HTTP CONNECT: --- HTTP",
  "X-Trace: a\nX-Other: HTTP CONNECT --- HTTP HTTP/1.1 200 OK\n",
  "first\n HTTP CONNECT --- HTTP HTTP/1.1 200 OK\n",
])("rejects %j, which has no marker", (text) => {
  expect(parseWebsiteTest(text, AS_IS)).toEqual({
    ok: false,
    failure: { reason: "decode", message: "$: expected a connection marker, got a text without one" },
  });
});

test.each([
  ["HTTP/1.0 200 OK", "http 200"],
  ["HTTP/2 200", "http 200"],
  ["HTTP/2.0 404 ", "http 404"],
  ["HTTP/3 503 Service Unavailable", "http 503"],
  ["HTTP/1.1 \t 200 OK", "http 200"],
  ["HTTP/1.1 100 Continue", "http 100"],
  ["HTTP/1.1 999 Odd", "http 999"],
  ["HTTP/1.1 1000 Odd", "http undefined"],
  ["HTTP/1.1 099 Odd", "http undefined"],
  ["HTTP/1.1 0200 Odd", "http undefined"],
  ["HTTP/1.1 -1 Odd", "http undefined"],
  ["HTTP/1.1 99999999999999999999", "http undefined"],
  ["HTTP/1.1 200OK", "http 0"],
  ["HTTP/1.1", "http 0"],
  ["HTTP/x 200 OK", "http 0"],
  ["http/1.1 200 OK", "http 0"],
  ["ICY 200 OK", "http 0"],
  ["", "http 0"],
  ["connect ECONNREFUSED 127.0.0.1:80", "http 0"],
  ["bad answer: HTTP/1.1 200 OK", "http 0"],
  ["Via: HTTP/1.1 200 OK", "http 0"],
])("finds the status of %j, in lines and folded", (answer, statuses) => {
  expect(statusesOf(`# HTTP\n${answer}\n\n`)).toBe(statuses);
  expect(statusesOf(`# HTTP\r\n\r\n${answer}\r\nServer: x\r\n`)).toBe(statuses);
  expect(statusesOf(`# HTTP ${answer}`)).toBe(statuses);
});

const TUNNEL = "HTTP/1.1 200 Connection established";
const SUCCESS = "HTTP/1.1 200 OK";

test.each([
  ["interim answers: one", "HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK", "http 200"],
  [
    "interim answers: two",
    "HTTP/1.1 100 Continue\n\nHTTP/1.1 103 Early Hints\nLink: x\n\nHTTP/2 301 Moved",
    "http 301",
  ],
  ["interim answers: only", "HTTP/1.1 103 Early Hints\nLink: x", "http 103"],
  [
    "interim answers: before a header value",
    "HTTP/1.1 103 Early Hints\nLink: HTTP/1.1 500 x\n\nHTTP/1.1 200 OK",
    "http 200",
  ],
  ["interim answers: before an invalid number", "HTTP/1.1 100 Continue\n\nHTTP/1.1 7 OK", "http undefined"],
  ["interim answers without a reason phrase", "HTTP/1.1 100\nHTTP/1.1 103\nHTTP/1.1 200", "http 200"],
  ["a proxy's: one", `${TUNNEL}\n\nHTTP/1.1 301 Moved`, "http 301"],
  ["a proxy's: with header lines", `${TUNNEL}\nVia: 1.1 proxy\n\nHTTP/2 503 No`, "http 503"],
  ["a proxy's: two", `${TUNNEL}\n\n${TUNNEL}\n\nHTTP/1.1 404 No`, "http 404"],
  ["a proxy's: by HTTP/1.0", "HTTP/1.0 200 Connection established\n\nHTTP/1.1 204 No Content", "http 204"],
  ["a proxy's: in other letters", "HTTP/1.1 200 CONNECTION Established\n\nHTTP/1.1 500 Oh", "http 500"],
  [
    "a proxy's: before an interim answer",
    `${TUNNEL}\n\nHTTP/1.1 100 Continue\n\nHTTP/1.1 302 Found`,
    "http 302",
  ],
  [
    "a proxy's: behind an interim answer",
    `HTTP/1.1 100 Continue\n\n${TUNNEL}\n\nHTTP/1.1 302 Found`,
    "http 302",
  ],
  ["a proxy's: before a header value", `${TUNNEL}\nX-Was: HTTP/1.1 500 x\n\nHTTP/1.1 200 OK`, "http 200"],
  ["a proxy's: and then nothing", TUNNEL, "http 0"],
  ["a proxy's: and then an error", `${TUNNEL}\nVia: 1.1 proxy\n\nread ECONNRESET`, "http 0"],
  ["a proxy's: and then only an interim answer", `${TUNNEL}\n\nHTTP/1.1 100 Continue`, "http 100"],
  ["a proxy's: and then an invalid number", `${TUNNEL}\n\nHTTP/1.1 7 OK`, "http undefined"],
  ["a proxy's: refused", "HTTP/1.1 407 Connection established\n\nHTTP/1.1 200 OK", "http 407"],
  ["a proxy's: tunnel established", "HTTP/1.0 200 Tunnel established\nVia: p\n\nHTTP/2 403 \n", "http 403"],
  ["a proxy's: tunnel established, and then nothing", "HTTP/1.0 200 Tunnel established", "http 0"],
  ["a proxy's: another success, and then nothing", "HTTP/1.1 201 Connection established", "http 0"],
  ["a proxy's: any success and any phrase", "HTTP/1.1 204 No Content\n\nHTTP/2 500 ", "http 500"],
  [
    "a proxy's: with its length",
    `${SUCCESS}\nContent-Length: 0\n\nHTTP/1.1 503 No\nRetry-After: 30`,
    "http 503",
  ],
  [
    "a proxy's: with headers of one word",
    `${SUCCESS}\nProxy-Connection: keep-alive\ncontent-length: 0\n\nHTTP/2 301`,
    "http 301",
  ],
  ["a proxy's: the highest success", "HTTP/1.1 299 Fine\n\nHTTP/1.1 404 No", "http 404"],
  ["a proxy's: not a success", "HTTP/1.1 300 Choose\n\nHTTP/1.1 404 No", "http 300"],
  ["a proxy's: without a phrase", "HTTP/2 200\n\nHTTP/2 502", "http 502"],
  ["a proxy's: two in a chain", `${SUCCESS}\n\nHTTP/1.0 200 OK\n\nHTTP/2 404`, "http 404"],
  [
    "a proxy's: before and after interim answers",
    `HTTP/1.1 100\n\n${SUCCESS}\n\nHTTP/2 103\n\nHTTP/2 401`,
    "http 401",
  ],
  ["a proxy's: before another success", `${SUCCESS}\n\nHTTP/2 204 `, "http 204"],
  ["a proxy's: and then nothing by the website", `${SUCCESS}\nContent-Length: 0`, "http 200"],
])("skips what precedes the website's answer: %s", (_, answer, statuses) => {
  expect(statusesOf(`# HTTP\n${answer}\n\n`)).toBe(statuses);
  expect(statusesOf(`# HTTP\r\n${answer.replaceAll("\n", "\r\n")}`)).toBe(statuses);
  expect(statusesOf(`# HTTP ${answer.replaceAll(/\s+/g, " ")}`)).toBe(statuses);
});

test.each([
  "HTTP/1.1 200 OK\nX-Was: HTTP/1.1 500 x",
  "HTTP/1.1 200 OK\nX-Was: a\n HTTP/1.1 500 continued",
  "HTTP/1.1 200 OK\nX-Was: a\rHTTP/1.1 500 behind a bare carriage return",
  "HTTP/1.1 200 OK\nX-Was: it said HTTP/1.1 500 x",
  "HTTP/1.1 200 it said HTTP/1.1 500 x\nServer: y",
  "HTTP/1.1 200 OK\nHTTP/1.1: 500",
  "HTTP/1.1 200 Connection establishedness",
  "HTTP/1.1 200\nConnection established",
  "TLS failed\nHTTP/1.1 200 OK",
  "HTTP/1.1 500 Oh\nHTTP/1.1 200 OK",
  "HTTP/1.1 302 Found\nLocation: /\n\nHTTP/1.1 200 OK",
  "HTTP/1.1 407 No\nProxy-Authenticate: Basic\n\nHTTP/1.1 200 OK",
])("takes the first line of a website's own answer as final: %j", (answer) => {
  const [, status = "0"] = /^HTTP\S* (\d+)/.exec(answer) ?? [];
  expect(statusesOf(`# HTTP\n${answer}\n\n`)).toBe(`http ${status}`);
});

test.each([
  ["200 OK X-Was: it said HTTP/1.1 500 Oh", undefined],
  ["200 OK X-Was:HTTP/1.1 500 Oh", 200],
  ["200 OK X-Was: HTTP/1.1 500 Oh", 200],
  ["200 OK Via: a proxy HTTP/1.1 500 Oh Server: x", undefined],
  ["200 OK Content-Length: 0 Server: x HTTP/1.1 500 Oh", undefined],
  ["200 OK X-Content-Length: 0 HTTP/1.1 500 Oh", undefined],
  ["200 OK Content-Length: some HTTP/1.1 500 Oh", undefined],
  ["200 OK Connection: close, x HTTP/1.1 500 Oh", undefined],
  ["503 No X-Was: it said HTTP/1.1 200 OK", 503],
  ["503 No X-Was: it said HTTP/1.1 200 OK HTTP/1.1 200 OK", 503],
  ["103 Early Hints Link: x y HTTP/1.1 500 Oh", 500],
  ["103 Early Hints Link: x said HTTP/1.1 500 y HTTP/1.1 200 OK", undefined],
  ["103 Early Hints Link: x said HTTP/1.1 200 y HTTP/1.1 500 Oh", 500],
  ["103 Early Hints HTTP/1.1 500 Oh X: it said HTTP/1.1 200 OK", 500],
  ["200 Connection established Via: x HTTP/1.1 503 No Server: x said HTTP/1.1 200 OK", undefined],
  ["200 Connection established HTTP/1.1 503 No Server: x said HTTP/1.1 200 OK", 503],
])("in a folded text, a header's value never replaces a status: HTTP/1.1 %s", (answer, status) => {
  expect(statusesOf(`# HTTP HTTP/1.1 ${answer}`)).toBe(`http ${status}`);
});

test.each([
  ["# HTTP\n  HTTP/1.1 2000 OK \nServer: x\n", 'unreadable status line "HTTP/1.1 2000 OK"'],
  ["# HTTP\r\nHTTP/1.1 099\r\n\r\n", 'unreadable status line "HTTP/1.1 099"'],
  ["# HTTP HTTP/1.1 2000 OK Server: x", 'unreadable status line "HTTP/1.1 2000"'],
  ["# HTTP\nHTTP/1.1 200 OK\n\nHTTP/1.1 7 Oh\n", 'unreadable status line "HTTP/1.1 7 Oh"'],
  ["# HTTP\nHTTP/1.1 200 OK\n\nHTTP/1.1 Bad Gateway\n", 'unreadable status line "HTTP/1.1 Bad Gateway"'],
  ["# HTTP\nHTTP/1.1 200 OK\n\nHTTP/1.1 503Oh\n", 'unreadable status line "HTTP/1.1 503Oh"'],
  ["# HTTP\nHTTP/1.1 2000 \tsecret\n", 'unreadable status line "HTTP/1.1 2000 \t<secret>"'],
  ["# HTTP HTTP/1.1 200 OK X: a secret HTTP/1.1 500 Oh", '"HTTP/1.1 500" may be part of a header'],
  ["# HTTP HTTP/1.1 503 X: # HTTP HTTP/1.1 200", "a second block for http may be part of a header"],
])("a status that is not certain has its reason: %j", (text, reason) => {
  const parsed = parseWebsiteTest(text.replaceAll("#", "HTTP CONNECT ---"), (line) =>
    line.replace("secret", "<secret>"),
  );
  expect(parsed.ok && parsed.value.blocks).toEqual([{ protocol: "http", status: undefined, text: reason }]);
});

test("an unreadable status line is cut", () => {
  const parsed = parseWebsiteTest(`HTTP CONNECT --- HTTP\nHTTP/1.1 2000 ${"x".repeat(300)}\n`, AS_IS);
  expect(parsed.ok && parsed.value.blocks[0]?.text).toMatch(
    /^unreadable status line "HTTP\/1\.1 2000 x{242}~[0-9a-f]{16}"$/,
  );
});

test.each([
  ["in a value", "X-Trace: HTTP CONNECT --- HTTPS HTTP/1.1 200 OK"],
  ["in a value behind a bare carriage return", "X-Trace: a\rHTTP CONNECT --- HTTPS\rHTTP/1.1 200 OK"],
  ["in a continued value", " HTTP CONNECT --- HTTPS"],
  ["in the reason phrase", "\tHTTP CONNECT --- HTTPS"],
])("ignores a marker that a website sent: %s", (_, line) => {
  expect(statusesOf(`# HTTP\nHTTP/1.1 500 Oh\n${line}\n\n`)).toBe("http 500");
});

test("decodes a string with escaped slashes and quotes, and raw line breaks", () => {
  const body = '\uFEFF"HTTP CONNECT ---\r\n\r\nHTTP\\/1.1 200 OK\r\nETag: \\"a\tb\\"\r\n\r\n"';
  expect(decodeWebsiteTest(Buffer.from(body), AS_IS)).toEqual({
    ok: true,
    value: { blocks: [{ protocol: "http", status: 200 }] },
  });
});

test.each([
  ['{"error":"none"}', "expected a string, got an object"],
  ["null", "expected a string, got null"],
  ["", "expected JSON, got nothing"],
  ["HTTP CONNECT --- HTTP", "expected JSON, got text that is not JSON"],
  ['""', "expected a connection marker, got a text without one"],
])("rejects %j, which is not a website test", (body, message) => {
  const failure = { reason: "decode", message: `$: ${message}` };
  expect(decodeWebsiteTest(Buffer.from(body), AS_IS)).toEqual({ ok: false, failure });
});

test("formats a test of both protocols", () => {
  expect(
    formatWebsiteTest([
      { protocol: "http", lines: ["HTTP/1.1 301 Moved Permanently", "Location: https://www.example.org/"] },
      { protocol: "https", lines: ["HTTP/1.1 200 OK", "Content-Type: text/html"] },
    ]),
  ).toBe(SAMPLE);
});

test("formats lines that contain line breaks, look like a marker or are blank", () => {
  const lines = [
    "HTTP CONNECT --- HTTPS",
    "X: a\r\nHTTPS CONNECT ---\n",
    "",
    " \n",
    "HTTPS CONNECT",
    "---: x",
  ];
  expect(formatWebsiteTest([{ protocol: "https", lines }])).toBe(
    "HTTP CONNECT ------------------------------------------------- HTTPS\n" +
      " HTTP CONNECT --- HTTPS\n" +
      "X: a  HTTPS CONNECT --- \n" +
      " HTTPS CONNECT\n" +
      "---: x\n" +
      "\n",
  );
});

test("encodes a test as a JSON string with escaped slashes", () => {
  expect(encodeWebsiteTest([{ protocol: "https", lines: ["HTTP/1.1 200 OK", 'ETag: "a/b"'] }])).toBe(
    '"HTTP CONNECT ------------------------------------------------- HTTPS\\n' +
      'HTTP\\/1.1 200 OK\\nETag: \\"a\\/b\\"\\n\\n"',
  );
});

test.each([
  [
    "a line of text",
    "HTTP CONNECT --- HTTP\n\n  connect ECONNREFUSED 127.0.0.1:80 \nmore\n",
    "connect ECONNREFUSED 127.0.0.1:80",
  ],
  ["nothing", "HTTP CONNECT --- HTTP\n\n", undefined],
  ["a status line", "HTTP CONNECT --- HTTP\nHTTP/1.1 503 Unavailable\n", undefined],
])("where %s follows the marker, the text in place of a status line is kept", (_, text, kept) => {
  const parsed = parseWebsiteTest(text, AS_IS);
  expect(parsed.ok && parsed.value.blocks[0]?.text).toBe(kept);
});

test("a text in place of a status line is redacted first, and cut then", () => {
  const text = `HTTP CONNECT --- HTTPS\nsecret ${"x".repeat(300)}\n`;
  const parsed = parseWebsiteTest(text, (line) => line.replace("secret", "<secret>"));
  const kept = parsed.ok ? parsed.value.blocks[0]?.text : "";
  expect(kept).toMatch(/^<secret> x{247}~[0-9a-f]{16}$/);
});
