import type { Decoded } from "./decoded.ts";
import { kindOf, parseJson } from "./json.ts";
import { cutText, type Redact } from "./kept-text.ts";
import type { OperationDescriptor } from "./operation.ts";
import { finalStatus, lineInstead } from "./status-line.ts";
import { decodeText } from "./text.ts";
import { findMarkers, type Marker } from "./website-marker.ts";

export type Protocol = "http" | "https";

/** One protocol's part of a website test. @see management API 4.2 */
export interface WebsiteBlock {
  readonly protocol: Protocol;
  /**
   * The status code of the final answer, 100 to 999; 0 where the website gave no HTTP response; `undefined` where
   * there is a status line whose number is out of range.
   */
  readonly status: number | undefined;
  /** The first line of what stands in place of a status line: why there was no HTTP response. Redacted and cut. */
  readonly text?: string;
}

/** One protocol's part of a website test as an appliance writes it. */
export interface WebsiteAnswer {
  readonly protocol: Protocol;
  /** Status line and header lines, or an error text. */
  readonly lines: readonly string[];
}

/** What an appliance got from one website; one block for each protocol tried, in the order of the text. */
export interface WebsiteTest {
  readonly blocks: readonly WebsiteBlock[];
}

const LIMITS = { bytes: 64 * 1024, json: { depth: 8, entries: 64, members: 64 } } as const;

/** The connectivity test of one website. @see management API 4.2 */
export const WEBSITE_TEST = {
  scope: "website",
  path: (websiteId = 0) => `/api/v1/website/${websiteId}/test`,
  limits: LIMITS,
  decode: decodeWebsiteTest,
  encode: encodeWebsiteTest,
  timing: "websites",
  takesSlot: true,
} as const satisfies OperationDescriptor<WebsiteTest, readonly WebsiteAnswer[]>;

/**
 * The blocks of a website test's body: a JSON string that holds the text; anything else is `decode`. Of the text only the
 * line in place of a status line is kept, redacted and cut.
 *
 * @throws never
 * @see management API 4.2
 */
export function decodeWebsiteTest(body: Uint8Array, redact: Redact): Decoded<WebsiteTest> {
  const parsed = parseJson(decodeText(body), LIMITS.json);
  if (!parsed.ok) return parsed;
  const { value } = parsed.value;
  return typeof value === "string"
    ? parseWebsiteTest(value, redact)
    : testProblem(`expected a string, got ${kindOf(value)}`);
}

/**
 * The blocks of a website test's text: labelled or not, parted by CRLF or LF or folded onto one line. Text before the
 * first marker is ignored, and of several blocks for one protocol the first counts; a text without a marker is `decode`.
 *
 * @throws never
 * @see management API 4.2
 */
export function parseWebsiteTest(text: string, redact: Redact): Decoded<WebsiteTest> {
  const folded = !text.trim().includes("\n");
  const markers = findMarkers(text, folded);
  if (markers.length === 0) return testProblem("expected a connection marker, got a text without one");
  const firstPlain = markers.find(isPlain);
  const blocks = new Map<Protocol, WebsiteBlock>();
  for (const [index, marker] of markers.entries()) {
    const protocol = protocolOf(marker, firstPlain);
    if (blocks.has(protocol)) continue;
    const answer = text.slice(marker.end, markers[index + 1]?.start);
    const line = lineInstead(answer);
    const reason = line === undefined ? {} : { text: cutText(redact(line)) };
    blocks.set(protocol, { protocol, status: finalStatus(answer, folded), ...reason });
  }
  return { ok: true, value: { blocks: [...blocks.values()] } };
}

function testProblem(message: string): Decoded<WebsiteTest> {
  return { ok: false, problem: { reason: "decode", path: "$", message } };
}

/** Whether nothing but `HTTP CONNECT` tells the protocol, which some appliances write for both. */
function isPlain({ word, isLabelled }: Marker): boolean {
  return !isLabelled && word === "HTTP";
}

/** Of several plain markers the first is http, a later one https. */
function protocolOf(marker: Marker, firstPlain: Marker | undefined): Protocol {
  if (marker.word === "HTTPS") return "https";
  return isPlain(marker) && marker !== firstPlain ? "https" : "http";
}

/** One protocol's status code; 0 where the website gave no HTTP response. */
export interface WebsiteStatus {
  readonly protocol: Protocol;
  readonly status: number;
  /** Why there was no HTTP response, in the words of the appliance. */
  readonly text?: string;
}

/**
 * The statuses a test yields: those of the configured protocols, 0 where the test has no block for one; or of all that
 * were found. A status that is out of range yields none.
 */
export function exportedStatuses(
  { blocks }: WebsiteTest,
  configured: readonly Protocol[] | undefined,
): readonly WebsiteStatus[] {
  const protocols = configured ?? blocks.map((block) => block.protocol);
  return protocols.flatMap((protocol) => {
    const block = blocks.find((candidate) => candidate.protocol === protocol);
    if (block === undefined) return [{ protocol, status: 0 }];
    const { status, text } = block;
    return status === undefined ? [] : [{ protocol, status, ...(text === undefined ? {} : { text }) }];
  });
}

const RULE = "-".repeat(49);

/**
 * The text of a website test, every line ended by LF, every block by a blank line. No line can hold a line break or
 * pass for a marker, whatever a website sent; blank lines are left out.
 *
 * @see management API 4.2
 */
export function formatWebsiteTest(blocks: readonly WebsiteAnswer[]): string {
  return blocks.map(formatBlock).join("");
}

function formatBlock({ protocol, lines }: WebsiteAnswer): string {
  const body = lines.map(formatLine).filter((line) => line.trim() !== "");
  return [`HTTP CONNECT ${RULE} ${protocol.toUpperCase()}`, ...body, "", ""].join("\n");
}

function formatLine(line: string): string {
  const flat = line.replaceAll(/[\r\n]/g, " ");
  // A marker counts at the very start of a line alone; its dashes may stand on the next one.
  return /^HTTPS? CONNECT/.test(flat) ? ` ${flat}` : flat;
}

/** The body of a website test's answer: the text as a JSON string, slashes escaped as `\/`. @see management API 4.2 */
export function encodeWebsiteTest(blocks: readonly WebsiteAnswer[]): string {
  return JSON.stringify(formatWebsiteTest(blocks)).replaceAll("/", String.raw`\/`);
}
