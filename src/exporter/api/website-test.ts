import { structure, type Numbering } from "./anonymize.ts";
import type { Outcome } from "./failure.ts";
import { kindOf, parseJson, rejected } from "./json.ts";
import type { ApiOperation } from "./operation.ts";
import { cutText, type Redact } from "./text.ts";

export type Protocol = "http" | "https";

/** The protocols that each setting of a website stands for. @see management API 2.3 */
export const PROTOCOLS = {
  http: ["http"],
  https: ["https"],
  both: ["http", "https"],
} as const satisfies Readonly<Record<string, readonly Protocol[]>>;

export type ProtocolSetting = keyof typeof PROTOCOLS;

/** The part of a website test for one protocol. @see management API 4.2 */
export type WebsiteBlock = WebsiteStatus | UncertainStatus;

export interface WebsiteStatus {
  readonly protocol: Protocol;
  /** The status of the website's final answer, 100 to 999; 0 if the website sent no HTTP response. */
  readonly status: number;
  /** The first line of the text in place of a status line, which says why there was no HTTP response. The line is redacted and cut. */
  readonly text?: string;
}

/** The part of a test whose status cannot be read, or may be forged. */
export interface UncertainStatus {
  readonly protocol: Protocol;
  readonly status: undefined;
  /** The reason in words. What it quotes of the answer is redacted and cut. */
  readonly text: string;
}

/** The test has one block for each protocol tried, in the order of the text. */
export interface WebsiteTest {
  readonly blocks: readonly WebsiteBlock[];
}

/** The connectivity test of one website. @see management API 4.2 */
export const WEBSITE_TEST = {
  path: (websiteId = 0) => `/api/v1/website/${websiteId}/test`,
  limitBytes: 64 * 1024,
  decode: decodeWebsiteTest,
  anonymize: (value, number) =>
    typeof value === "string" ? anonymizeText(value, number) : structure(value, number),
  statuses: { 404: "gone" },
} as const satisfies ApiOperation<WebsiteTest>;

/** Decodes a website test: a JSON string that contains the text; anything else is `decode`. */
export function decodeWebsiteTest(body: Uint8Array, redact: Redact): Outcome<WebsiteTest> {
  const parsed = parseJson(body);
  if (!parsed.ok) return parsed;
  const { value } = parsed.value;
  return typeof value === "string"
    ? parseWebsiteTest(value, redact)
    : rejected("decode", `expected a string, got ${kindOf(value)}`);
}

const RULED = String.raw` CONNECT\s*-{3,}`;
/** `HTTP/1.1` starts a status line and is not a label; neither is the next marker after an empty answer. */
const LABEL = String.raw`\s*(HTTPS?)(?=\s|$)(?!${RULED})`;
const MARKER = new RegExp(`(HTTPS?)${RULED}(?:${LABEL})?`, "g");

/** The number of a status line. White space or the end must follow. */
const NUMBER = String.raw`[ \t]+([+-]?\d+)(?=\s|$)`;
/** The part of a status line after `HTTP`, up to its number. */
const STATUS = String.raw`/\d+(?:\.\d+)?${NUMBER}`;
const AT_START = new RegExp(String.raw`^\s*HTTP${STATUS}`);
/** No header begins like this, so a line without a number is an unreadable status line. */
const LINE = String.raw`HTTP/\d+(?:\.\d+)?(?=\s|$)(?:${NUMBER})?`;
const AT_LINE_START = new RegExp(String.raw`(?<=\n)${LINE}`, "g");
/**
 * This does not match after a token that ends in ":", as such a match is a header's value. The lookbehind follows a literal, so that it
 * rarely runs.
 */
const AFTER_TOKEN = new RegExp(String.raw`HTTP(?<=[^\s:]\s+HTTP)${STATUS}`, "g");
/** The reason phrase of a proxy that opened a tunnel. */
const CONNECTED = /^[ \t]+(?:connection|tunnel)[ \t]+established(?=\s|$)/i;
/**
 * What may stand between two status lines on one line, so that the second is no part of a header: a reason phrase, and headers whose
 * values are one word.
 */
const WITHOUT_TEXT = /^[^:]*(?:(?<=\s)(?:content-length:[ \t]*\d+|(?:proxy-)?connection:[ \t]*[\w-]+)\s+)*$/i;

/**
 * Parses the text of a website test: markers with or without a label, lines separated by CRLF or LF or folded onto one
 * line. Ignores text before the first marker. The first block for a protocol counts; if a folded text has several, the status is
 * unknown, since a header can look like a marker there. A text without a marker is `decode`.
 *
 * @see management API 4.2
 */
export function parseWebsiteTest(text: string, redact: Redact): Outcome<WebsiteTest> {
  const { isFolded, answers } = answersIn(text);
  if (answers.length === 0) return rejected("decode", "expected a connection marker, got a text without one");
  const blocks = new Map<Protocol, WebsiteBlock>();
  for (const { protocol, answer } of answers) {
    if (!blocks.has(protocol)) blocks.set(protocol, readAnswer(answer, protocol, isFolded, redact));
    else if (isFolded)
      blocks.set(protocol, uncertain(protocol, `a second block for ${protocol} may be part of a header`));
  }
  return { ok: true, value: { blocks: [...blocks.values()] } };
}

/** Returns the text after each marker, up to the next one. `isFolded` says that the text is one line. */
function answersIn(text: string) {
  const isFolded = !text.trim().includes("\n");
  const markers = findMarkers(text, isFolded);
  const answers = markers.map((marker, index) => {
    return { answer: text.slice(marker.end, markers[index + 1]?.start), ...marker };
  });
  return { isFolded, answers };
}

/**
 * Finds the markers of a text. A marker counts at the start of the text or of a line, where no header value can forge one. After other
 * white space it counts only if the whole text is folded onto one line. Linear time.
 */
function findMarkers(text: string, isFolded: boolean) {
  const textStart = text.search(/\S/);
  const found = [...text.matchAll(MARKER)].filter(({ index }) => {
    const before = text.slice(index - 1, index);
    return index === textStart || (isFolded ? /\s/.test(before) : before === "\n");
  });
  // Some appliances write `HTTP CONNECT` without a label for both protocols: the second one is https.
  const firstPlain = found.find(isPlain);
  return found.map((match) => {
    const { 0: whole, 1: word = "", 2: label, index: start } = match;
    const isHttps = (label ?? word) === "HTTPS" || (isPlain(match) && match !== firstPlain);
    return { start, end: start + whole.length, protocol: isHttps ? "https" : "http", word, label } as const;
  });
}

function isPlain([, word, label]: RegExpExecArray): boolean {
  return label === undefined && word === "HTTP";
}

/**
 * Reads the status of an answer. A status below 300 is not the website's if a later status line follows: an interim answer (1xx) is not
 * final, and a success (2xx) has no body after HEAD, so it is that of a proxy to CONNECT. A further status line counts at the start of a
 * line, where no header value can be. If the text is folded, it counts anywhere except after a header name, but it may be part of a
 * header: then the status is not certain, unless one must follow and only one does. Other statuses are final, since the body of a refused
 * CONNECT may follow them. Without a later status line, each status counts, except for a proxy's `Connection established`, which is 0: the
 * website sent no HTTP response. Linear time.
 */
function readAnswer(answer: string, protocol: Protocol, isFolded: boolean, redact: Redact): WebsiteBlock {
  const first = AT_START.exec(answer);
  if (first === null) {
    const line = errorIn(answer);
    return line === undefined ? { protocol, status: 0 } : { protocol, status: 0, text: quoted(line, redact) };
  }
  let line: RegExpMatchArray = first;
  let status = statusOf(line);
  let isDoubtful = false;
  for (const next of answer.matchAll(isFolded ? AFTER_TOKEN : AT_LINE_START)) {
    const isFinal = status === undefined || status >= 300;
    if (isFinal && !isDoubtful) break;
    const mayBeHeader = isFolded && !WITHOUT_TEXT.test(answer.slice(endOf(line), next.index));
    const isSuccess = status !== undefined && status >= 200;
    if (isFinal || (isSuccess && mayBeHeader)) {
      return uncertain(protocol, `"${quoted(next[0], redact)}" may be part of a header`);
    }
    isDoubtful ||= mayBeHeader;
    line = next;
    status = statusOf(line);
  }
  if (status !== undefined) return { protocol, status };
  const [whole = ""] = isFolded ? line : (/\S.*/.exec(answer.slice(line.index)) ?? []);
  return uncertain(protocol, `unreadable status line "${quoted(whole.trim(), redact)}"`);
}

function endOf({ 0: whole, index = 0 }: RegExpMatchArray): number {
  return index + whole.length;
}

function uncertain(protocol: Protocol, text: string): UncertainStatus {
  return { protocol, status: undefined, text };
}

function quoted(text: string, redact: Redact): string {
  return cutText(redact(text));
}

/** Returns the first line of a text in place of a status line. */
function errorIn(answer: string): string | undefined {
  return /\S.*/.exec(answer)?.[0].trimEnd();
}

function statusOf(line: RegExpMatchArray): number | undefined {
  const { 1: number = "", input = "" } = line;
  if (/^2\d\d$/.test(number) && CONNECTED.test(input.slice(endOf(line)))) return 0;
  return /^[1-9]\d\d$/.test(number) ? Number(number) : undefined;
}

export const RULE = "-".repeat(49);

/** The common headers, as they are usually written. */
const HEADERS =
  "[Cc]onnection|[Cc]ontent-[Tt]ype|[Ll]ocation|[Rr]etry-[Aa]fter|[Ss]erver|[Ss]et-[Cc]ookie|[Tt]ransfer-[Ee]ncoding";
const STATUS_OR_HEADER = new RegExp(String.raw`(?<=\n)(?:${LINE}|(${HEADERS}):(.*))`, "g");
/** The words that say why there was no HTTP response. */
const CAUSES =
  /\b(?:certificate|expired|handshake|host|no response|refused|reset|resolve|route|self-signed|ssl|timed out|timeout|tls|unreachable)\b/gi;

/** Keeps markers, status codes, the names of common headers, and words for why there was no HTTP response. */
function anonymizeText(text: string, number: Numbering): string {
  const nameOf = (part: string): string => `text-${number("text", part)}`;
  const { isFolded, answers } = answersIn(text);
  const lines = answers.flatMap(({ word, label, answer }) => {
    const marker = `${word} CONNECT ${RULE}${label === undefined ? "" : ` ${label}`}`;
    const first = AT_START.exec(answer);
    if (first === null) {
      const error = errorIn(answer) ?? "";
      const causes = new Set(error.match(CAUSES)?.map((cause) => cause.toLowerCase()) ?? []);
      return [marker, ...(error === "" ? [] : [[...causes].join(" ") || nameOf(error)])];
    }
    const further = [...answer.matchAll(isFolded ? AFTER_TOKEN : STATUS_OR_HEADER)].filter(
      ({ index }) => index >= first[0].length,
    );
    return [
      marker,
      ...[first, ...further].map((match) => {
        const [, , header, value = ""] = match;
        return header === undefined ? statusLine(statusOf(match)) : `${header}: ${nameOf(value.trim())}`;
      }),
    ];
  });
  return lines.join(isFolded ? " " : "\n") || nameOf(text);
}

function statusLine(status: number | undefined): string {
  return `HTTP/1.1 ${status === 0 ? "200 Connection established" : (status ?? 0)}`;
}

/**
 * Returns the statuses to export. For configured protocols, a protocol without a block has 0; if protocols are `undefined`, all blocks
 * count.
 */
export function exportedStatuses(
  { blocks }: WebsiteTest,
  configured: readonly Protocol[] | undefined,
): readonly WebsiteStatus[] {
  const exported = configured?.map((wanted): WebsiteBlock => {
    return blocks.find(({ protocol }) => protocol === wanted) ?? { protocol: wanted, status: 0 };
  });
  return (exported ?? blocks).filter((block) => block.status !== undefined);
}

/** Returns the blocks, of configured protocols or of all, whose status is not certain. */
export function uncertainStatuses(
  { blocks }: WebsiteTest,
  configured: readonly Protocol[] | undefined,
): readonly UncertainStatus[] {
  const uncertainBlocks = blocks.filter((block) => block.status === undefined);
  return uncertainBlocks.filter(({ protocol }) => configured?.includes(protocol) ?? true);
}
