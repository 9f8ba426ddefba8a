import { expect, test } from "vitest";
import { html } from "../../../src/exporter/page/view/html.ts";
import { clusterId, labelList } from "../../../src/exporter/page/view/parts.ts";

test("values in a template are text, in an element and in an attribute", () => {
  const hostile = `"><script>alert('&amp;')</script>`;
  const harmless = "&#34;&#62;&#60;script&#62;alert(&#39;&#38;amp;&#39;)&#60;/script&#62;";
  expect(html`<p title="${hostile}">${hostile}</p>`.text).toBe(`<p title="${harmless}">${harmless}</p>`);
});

test("markup of one template is inserted into another unchanged, alone or as a list", () => {
  expect(html`<p>${html`<b>1</b>`}${[html`<i>2</i>`, html`<i>${3}</i>`]}</p>`.text).toBe(
    "<p><b>1</b><i>2</i><i>3</i></p>",
  );
});

test("text that looks like a placeholder stays text", () => {
  expect(html`${"${1}"} ${"$&"}`.text).toBe("${1} $&#38;");
});

test("invisible characters, and those that change the direction of writing, are shown by number", () => {
  expect(html`<p title="${"\u202E"}">${"é\u202Eb\u200B\u{E0001}\n<"}</p>`.text).toBe(
    `${String.raw`<p title="\u202e">é\u202eb\u200b\udb40\udc01`}\n&#60;</p>`,
  );
});

test("names and values of labels are text", () => {
  expect(labelList({ "<b>": "<i>" }).text).toContain("<span>&#60;b&#62;=&#60;i&#62;</span>");
  expect(labelList({}).text).toBe("");
});

test("the id of a cluster needs no escaping, and differs for each name", () => {
  const names = ["ams", "a b", "a_b", "a#b", "a.b-1", "<a>", "ä", "😀"];
  const anchors = names.map(clusterId);
  for (const anchor of anchors) expect(anchor).toMatch(/^cluster-[\w.-]+$/);
  expect(new Set(anchors).size).toBe(names.length);
  expect(clusterId("ams")).toBe("cluster-ams");
});
