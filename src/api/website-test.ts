import { kindOf, parseJson, rejected, type Decoded } from "./json.ts";
import { cutText, type Redact } from "./kept-text.ts";
import type { OperationDescriptor } from "./operation.ts";
import { readAnswer } from "./status-line.ts";
import { findMarkers } from "./website-marker.ts";

export type Protocol = "http" | "https";

/** The part of a website test for one protocol. @see management API 4.2 */
export interface WebsiteBlock {
  readonly protocol: Protocol;
  /**
   * The status code of the final answer, 100 to 999; 0 if the website sent no HTTP response; `undefined` if the number
   * is out of range.
   */
  readonly status: number | undefined;
  /** The first line of the text in place of a status line: why there was no HTTP response. Redacted and cut. */
  readonly text?: string;
}

/** The part of a website test for one protocol, as an appliance writes it. */
export interface WebsiteAnswer {
  readonly protocol: Protocol;
  /** Status line and header lines, or an error text. */
  readonly lines: readonly string[];
}

/** The answers of one website; one block for each protocol tried, in the order of the text. */
export interface WebsiteTest {
  readonly blocks: readonly WebsiteBlock[];
}

/** The connectivity test of one website. @see management API 4.2 */
export const WEBSITE_TEST = {
  scope: "website",
  path: (websiteId = 0) => `/api/v1/website/${websiteId}/test`,
  limitBytes: 64 * 1024,
  decode: decodeWebsiteTest,
  encode: encodeWebsiteTest,
  timing: "websites",
  takesSlot: "website_tests",
} as const satisfies OperationDescriptor<WebsiteTest, readonly WebsiteAnswer[]>;

/**
 * Decodes a website test: a JSON string that contains the text; anything else is `decode`. Only the line in place of a
 * status line is kept, redacted and cut.
 *
 * @throws never
 * @see management API 4.2
 */
export function decodeWebsiteTest(body: Uint8Array, redact: Redact): Decoded<WebsiteTest> {
  const parsed = parseJson(body);
  if (!parsed.ok) return parsed;
  const { value } = parsed.value;
  return typeof value === "string"
    ? parseWebsiteTest(value, redact)
    : rejected("decode", `expected a string, got ${kindOf(value)}`);
}

/**
 * Parses the text of a website test: markers with or without a label, lines separated by CRLF or LF or folded onto one
 * line. Ignores text before the first marker. The first block for a protocol counts. A text without a marker is `decode`.
 *
 * @throws never
 * @see management API 4.2
 */
export function parseWebsiteTest(text: string, redact: Redact): Decoded<WebsiteTest> {
  const folded = !text.trim().includes("\n");
  const markers = findMarkers(text, folded);
  if (markers.length === 0) return rejected("decode", "expected a connection marker, got a text without one");
  const blocks = new Map<Protocol, WebsiteBlock>();
  for (const [index, { end, protocol }] of markers.entries()) {
    if (blocks.has(protocol)) continue;
    const { status, line } = readAnswer(text.slice(end, markers[index + 1]?.start), folded);
    const reason = line === undefined ? {} : { text: cutText(redact(line)) };
    blocks.set(protocol, { protocol, status, ...reason });
  }
  return { ok: true, value: { blocks: [...blocks.values()] } };
}

/** A block with a status, which is 0 if the website sent no HTTP response. */
export type WebsiteStatus = WebsiteBlock & { readonly status: number };

/**
 * The statuses to export: of the configured protocols, 0 for one without a block; or of all blocks if none are
 * configured. A status that is out of range is not exported.
 */
export function exportedStatuses(
  { blocks }: WebsiteTest,
  configured: readonly Protocol[] | undefined,
): readonly WebsiteStatus[] {
  const exported = configured?.map((wanted): WebsiteBlock => {
    return blocks.find(({ protocol }) => protocol === wanted) ?? { protocol: wanted, status: 0 };
  });
  return (exported ?? blocks).filter((block): block is WebsiteStatus => block.status !== undefined);
}

const RULE = "-".repeat(49);

/**
 * The text of a website test. Every line ends with LF, every block with a blank line. Whatever the website sent, no line
 * can contain a line break or look like a marker. Blank lines are dropped.
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
  // A marker counts only at the very start of a line. Its dashes may be on the next line.
  return /^HTTPS? CONNECT/.test(flat) ? ` ${flat}` : flat;
}

/** The body of a website test: the text as a JSON string, with slashes escaped as `\/`. @see management API 4.2 */
export function encodeWebsiteTest(blocks: readonly WebsiteAnswer[]): string {
  return JSON.stringify(formatWebsiteTest(blocks)).replaceAll("/", String.raw`\/`);
}
