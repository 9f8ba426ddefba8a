import { posix } from "node:path";
import { Marked, type Tokens } from "marked";
import { alertOf, PROBLEM_KINDS } from "../src/exporter/judge/states.ts";

/** Returns the anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");
}

/** Returns the kinds of problems that an alert is about. The links of alerts have the kind; those of Grafana the name, which it cannot write in lower case. */
function kindsOf(alert: string): readonly string[] {
  return [...PROBLEM_KINDS, "failover" as const].filter((kind) => alertOf(kind) === alert);
}

function refuse({ raw }: Pick<Tokens.Generic, "raw">): string {
  throw new Error(`the runbook has what its page cannot show: ${raw}`);
}

const markdown = new Marked({
  renderer: {
    html: refuse,
    image: refuse,
    heading({ depth, text, tokens }) {
      const words = this.parser.parseInline(tokens);
      const title = /^[A-Z]\w+$/.test(text)
        ? [text, ...kindsOf(text)].reduce((inner, id) => `<span id="${id}">${inner}</span>`, words)
        : words;
      return `<h${depth} id="${anchorOf(text)}">${title}</h${depth}>\n`;
    },
    link({ href, raw, tokens }) {
      const words = this.parser.parseInline(tokens);
      if (/^(#[\w-]+|https:\/\/[\w./-]+)$/.test(href)) return `<a href="${href}">${words}</a>`;
      // Other files are installed, but not served.
      const [, file] = /^([\w./-]+)(#[\w-]+)?$/.exec(href) ?? [];
      if (file === undefined) return refuse({ raw });
      const path = posix.join("docs", file);
      return words === posix.basename(file) ? path : `${words} (${path})`;
    },
  },
});

/** Returns the runbook as HTML. Throws if it has HTML, a picture, or a link other than to its own sections, the web or a file. */
export function runbookHtml(text: string): string {
  return markdown.parse(text, { async: false });
}
