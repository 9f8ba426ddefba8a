import * as fc from "fast-check";
import { expect, test } from "vitest";
import { encodeWebsiteTest, formatWebsiteTest } from "../../../src/appliance/encode.ts";
import {
  decodeWebsiteTest,
  parseWebsiteTest,
  type Protocol,
} from "../../../src/exporter/api/website-test.ts";

const AS_IS = (text: string): string => text;

const version = fc.constantFrom("HTTP/1.0", "HTTP/1.1", "HTTP/2", "HTTP/2.0", "HTTP/3");
const reason = fc.constantFrom("", " OK", " Moved Permanently", " No: HTTP/1.1 200");
const headerName = fc.stringMatching(/^[A-Za-z-]{1,12}$/);
/** A header value, without line breaks and lone surrogates. */
const headerValue = fc
  .oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("HTTP/1.1 200 OK", "a HTTPS CONNECT --- HTTP b"),
  )
  .map((value) => value.replaceAll(/[\r\n]/g, " "));
const header = fc.tuple(headerName, headerValue).map(([name, value]) => `${name}: ${value}`.trimEnd());

const answered = fc
  .record({
    version,
    status: fc.integer({ min: 200, max: 999 }),
    reason,
    headers: fc.array(header, { maxLength: 4 }),
  })
  .map((each) => ({
    status: each.status,
    lines: [`${each.version} ${each.status}${each.reason}`, ...each.headers],
  }));
const unanswered = fc
  .constantFrom(
    [],
    ["connect ECONNREFUSED 127.0.0.1:80"],
    ["certificate has expired"],
    ["no HTTP/1.1 200 OK"],
  )
  .map((lines) => ({ status: 0, lines }));
const answer = fc.oneof(answered, unanswered);
const protocols = fc.constantFrom<readonly Protocol[]>(
  ["http"],
  ["https"],
  ["http", "https"],
  ["https", "http"],
);
const blocks = fc
  .tuple(protocols, answer, answer)
  .map(([names, ...answers]) =>
    names.map((protocol, index) => ({ protocol, ...(answers[index] ?? answers[0]) })),
  );

test("parses formatted texts, and decodes encoded ones", () => {
  fc.assert(
    fc.property(blocks, (answers) => {
      const value = {
        blocks: answers.map(({ protocol, status, lines: [first] }) =>
          status === 0 && first !== undefined ? { protocol, status, text: first } : { protocol, status },
        ),
      };
      expect(parseWebsiteTest(formatWebsiteTest(answers), AS_IS)).toEqual({ ok: true, value });
      expect(decodeWebsiteTest(Buffer.from(encodeWebsiteTest(answers)), AS_IS)).toEqual({ ok: true, value });
    }),
  );
});

function statusesOf(text: string) {
  const parsed = parseWebsiteTest(text, AS_IS);
  return parsed.ok
    ? parsed.value.blocks.map(({ protocol, status }) => ({ protocol, status }))
    : parsed.failure;
}

test("finds the same statuses however a text without markers in its values is folded", () => {
  const plain = blocks.filter((each) =>
    each.every(({ lines }) => lines.every((line) => !line.includes("CONNECT"))),
  );
  fc.assert(
    fc.property(plain, (expected) => {
      const text = formatWebsiteTest(expected);
      const statuses = expected.map(({ protocol, status }) => ({ protocol, status }));
      expect(statusesOf(text)).toEqual(statuses);
      expect(statusesOf(text.replaceAll("\n", "\r\n"))).toEqual(statuses);
      expect(statusesOf(text.replaceAll("\n", " "))).toEqual(statuses);
      expect(statusesOf(text.replaceAll(/\s+/g, " ").trim())).toEqual(statuses);
    }),
  );
});

/** What precedes the website's own answer: interim answers, and a proxy's answers to CONNECT with any success and phrase. */
const preceding = fc.array(
  fc
    .tuple(version, fc.integer({ min: 100, max: 299 }), reason, fc.array(header, { maxLength: 3 }))
    .map(([name, status, phrase, headers]) => [`${name} ${status}${phrase}`, ...headers]),
  { maxLength: 3 },
);
const separator = fc.constantFrom("\n", "\r\n");

test("the last status line counts behind interim answers and successes of proxies, with and without blank lines", () => {
  fc.assert(
    fc.property(preceding, answered, separator, fc.boolean(), (before, { status, lines }, end, isSpaced) => {
      const parts = [...before, lines].map((part) => part.join(end));
      const text = `HTTP CONNECT --- HTTP${end}${parts.join(isSpaced ? end + end : end)}${end}`;
      expect(statusesOf(text)).toEqual([{ protocol: "http", status }]);
    }),
  );
});

test("no header's value of a folded text shows a website that is up as down, or the reverse", () => {
  const text = fc
    .array(fc.oneof(headerValue, fc.constantFrom("said HTTP/1.1 500 Oh", "HTTP/1.1 200 OK", "HTTP/2 103")))
    .map((parts) => parts.join(" "));
  const headers = fc.array(fc.tuple(headerName, text), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 999 }), headers, (status, named) => {
      const lines = named.map(([name, value]) => `X-${name}: ${value}`.replaceAll("CONNECT", ""));
      const folded = `HTTP CONNECT --- HTTP HTTP/1.1 ${status} Any ${lines.join(" ")}`;
      expect([[{ protocol: "http", status }], [{ protocol: "http", status: undefined }]]).toContainEqual(
        statusesOf(folded),
      );
    }),
    { numRuns: 1000 },
  );
});

const fragment = fc.constantFrom(
  "HTTP CONNECT",
  "HTTPS CONNECT",
  "---",
  " ",
  "\r",
  ":",
  "HTTP",
  "HTTP/1.1 200",
  "HTTP/1.1 100",
  "x",
);
const FORGED = [
  "HTTP CONNECT --- HTTP HTTP/1.1 200 OK",
  "HTTPS CONNECT --- HTTP/1.1 200 OK",
  "HTTP CONNECT --- HTTPS HTTP/1.1 200 OK",
];
const nastyLine = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fragment).map((parts) => parts.join("")),
);
const nastyText = fc.array(fc.oneof(nastyLine, fc.constant("\n"))).map((parts) => parts.join(""));

test("ignores markers in header values of a text with line breaks", () => {
  fc.assert(
    fc.property(fc.array(nastyLine), (values) => {
      const lines = values.map((value) => `X-Any: ${value.replaceAll("\n", "")}\n`);
      const text = `HTTP CONNECT --- HTTP\nHTTP/1.1 500 Oh\n${lines.join("")}\n`;
      expect(statusesOf(text)).toEqual([{ protocol: "http", status: 500 }]);
    }),
  );
});

test("headers that look like blocks never forge the status of a tested protocol, however the text is folded", () => {
  const forged = fc.tuple(
    headerName,
    fc.array(fc.oneof(nastyLine, fc.constantFrom(...FORGED)), { maxLength: 3 }),
  );
  const nastyHeader = forged.map(([name, parts]) => `${name}: ${parts.join(" ").replaceAll(/[\r\n]/g, " ")}`);
  const both = fc.tuple(
    fc.constantFrom<readonly Protocol[]>(["http", "https"], ["https", "http"]),
    fc.array(fc.tuple(fc.integer({ min: 200, max: 599 }), fc.array(nastyHeader, { maxLength: 3 })), {
      minLength: 2,
      maxLength: 2,
    }),
    fc.boolean(),
  );
  fc.assert(
    fc.property(both, ([names, tests, hasLabels]) => {
      const answers = names.map((protocol, nth) => {
        const [status = 0, headers = []] = tests[nth] ?? [];
        return { protocol, status, lines: [`HTTP/1.1 ${status} Any`, ...headers] };
      });
      const text = formatWebsiteTest(answers);
      const marked = hasLabels ? text : text.replaceAll(/^(HTTP CONNECT -+) HTTPS?$/gm, "$1");
      // Without labels, the first one is http.
      const tested = hasLabels
        ? answers
        : answers.map((each, nth) => ({ ...each, protocol: nth === 0 ? "http" : "https" }));
      const found = statusesOf(marked.replaceAll(/\s+/g, " ").trim());
      for (const { protocol, status } of tested) {
        expect([
          { protocol, status },
          { protocol, status: undefined },
        ]).toContainEqual(Array.isArray(found) ? found.find((each) => each.protocol === protocol) : found);
      }
    }),
    { numRuns: 1000 },
  );
});

const forgery = nastyText.map((text) => `HTTPS CONNECT ---${text}`);

test("formats lines so that none of them is a marker", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(nastyText, forgery)), (lines) => {
      const text = formatWebsiteTest([
        { protocol: "http", lines },
        { protocol: "https", lines: [] },
      ]);
      const parsed = parseWebsiteTest(text, AS_IS);
      expect(parsed.ok && parsed.value.blocks.map(({ protocol }) => protocol)).toEqual(["http", "https"]);
      expect(parsed.ok && parsed.value.blocks[1]).toEqual({ protocol: "https", status: 0 });
    }),
  );
});
