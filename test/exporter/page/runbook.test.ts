import { expect, test } from "vitest";
import { runbookHtml } from "../../../scripts/runbook.ts";
import { loadRunbook } from "../../../src/exporter/page/runbook.ts";
import { alertOf, PROBLEM_KINDS } from "../../../src/exporter/judge/states.ts";
import { ALERTS } from "../../../src/exporter/judge/alerts.ts";
import { keysOf } from "../../../src/support/keys.ts";

test.each([
  ["a heading", "## Sites, clusters", '<h2 id="sites-clusters">Sites, clusters</h2>'],
  ["the name of an alert", "### SiteDark", '<h3 id="sitedark"><span id="SiteDark">SiteDark</span></h3>'],
  [
    "the name of an alert about kinds of problems",
    "### WebsiteUnknown",
    '<h3 id="websiteunknown"><span id="website_partially_unknown"><span id="website_unknown"><span id="WebsiteUnknown">WebsiteUnknown</span></span></span></h3>',
  ],
  ["a link within it", "[below](#sitedark)", '<p><a href="#sitedark">below</a></p>'],
  [
    "a link to the web",
    "[RFC](https://www.rfc-editor.org/rfc/9110)",
    '<p><a href="https://www.rfc-editor.org/rfc/9110">RFC</a></p>',
  ],
  ["a file", "[metrics.md](reference/metrics.md#reasons) lists", "<p>docs/reference/metrics.md lists</p>"],
  ["a file by other words", "by [shards](scaling.md#shards)", "<p>by shards (docs/scaling.md)</p>"],
  ["a file outside of docs", "[the unit](../packaging/unit)", "<p>the unit (packaging/unit)</p>"],
  ["what looks like HTML in code", "`<b>&`", "<p><code>&lt;b&gt;&amp;</code></p>"],
])("the runbook's page shows %s", (_, markdown, html) => {
  expect(runbookHtml(markdown).trim()).toBe(html);
});

test.each([
  "<b>now</b>",
  "<!-- x -->",
  "text <br> text",
  "![picture](a.png)",
  "[x](javascript:alert(1))",
  "<x@example.org>",
])("a runbook with %s is not built", (markdown) => {
  expect(() => runbookHtml(markdown)).toThrow("the runbook has what its page cannot show");
});

test("the page has a section for each alert, found in any of both spellings, and no script", async () => {
  const page = await loadRunbook("assets/1");
  const missing = keysOf(ALERTS).flatMap((alert) =>
    [alert, alert.toLowerCase()].filter((id) => !page.includes(`id="${id}"`)),
  );
  const kinds = PROBLEM_KINDS.filter((kind) => alertOf(kind) !== undefined && !page.includes(`id="${kind}"`));
  expect(kinds).toEqual([]);
  expect(missing).toEqual([]);
  expect(page).toContain('<link rel="stylesheet" href="assets/1/style.css" />');
  expect(page).not.toMatch(/<script|<style|style=|\son\w+=/);
});
