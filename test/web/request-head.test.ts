import { expect, test } from "vitest";
import { createHeadFinder } from "../../src/web/serial-connection.ts";

/** The request heads in a text that arrives in pieces of this size. */
function headsIn(text: string, size: number): readonly string[] {
  const find = createHeadFinder();
  const heads: string[] = [];
  let head = "";
  for (let rest = text; rest !== "";) {
    const piece = rest.slice(0, size);
    const end = find(Buffer.from(piece, "latin1")) ?? 0;
    head += end === 0 ? piece : piece.slice(0, end);
    if (end > 0) {
      heads.push(head);
      head = "";
    }
    rest = rest.slice(end === 0 ? size : end);
  }
  return heads;
}

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

test.each([
  { name: "one request", text: GET, heads: [GET] },
  { name: "pipelined requests", text: GET.repeat(3), heads: [GET, GET, GET] },
  { name: "lines that end with LF", text: "GET /\nHost: x\n\nGET", heads: ["GET /\nHost: x\n\n"] },
  { name: "empty lines before a request", text: `\r\n\n\r\n${GET}`, heads: [`\r\n\n\r\n${GET}`] },
  { name: "a line with only a space", text: "GET /\r\n \r\nHost: x\r\n", heads: [] },
  { name: "half a request", text: GET.slice(0, -1), heads: [] },
  { name: "only empty lines", text: "\r\n".repeat(9), heads: [] },
])("$name, in pieces of any size", ({ text, heads }) => {
  for (let size = 1; size <= text.length; size += 1) expect(headsIn(text, size)).toEqual(heads);
});
