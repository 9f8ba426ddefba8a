import { expect, test } from "vitest";
import { html } from "../../../src/web/status-page/view/html.ts";
import { labelList } from "../../../src/web/status-page/view/labels.ts";
import { clusterAnchor } from "../../../src/web/status-page/view/anchor.ts";

test("what is put into a template is text, in an element as in an attribute", () => {
  const hostile = `"><script>alert('&amp;')</script>`;
  const harmless = "&#34;&#62;&#60;script&#62;alert(&#39;&#38;amp;&#39;)&#60;/script&#62;";
  expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(`<p title="${harmless}">${harmless}</p>`);
});

test("markup made by a template is put into another as it is, one by one or as a list", () => {
  expect(html`<p>${html`<b>1</b>`}${[html`<i>2</i>`, html`<i>${3}</i>`]}</p>`.text).toBe(
    "<p><b>1</b><i>2</i><i>3</i></p>",
  );
});

test("text that looks like a place in a template stays text", () => {
  expect(html`${"${1}"} ${"$&"}`.text).toBe("${1} $&#38;");
});

test("names and values of labels are text", () => {
  expect(labelList({ "<b>": "<i>" }).text).toContain("<span>&#60;b&#62;=&#60;i&#62;</span>");
  expect(labelList({}).text).toBe("");
});

test("an anchor holds no character with a meaning of its own, and is another for another name", () => {
  const names = ["ams", "a b", "a_b", "a#b", "a.b-1", "<a>", "ä", "😀"];
  const anchors = names.map(clusterAnchor);
  for (const anchor of anchors) expect(anchor).toMatch(/^cluster-[\w.-]+$/);
  expect(new Set(anchors).size).toBe(names.length);
  expect(clusterAnchor("ams")).toBe("cluster-ams");
});
