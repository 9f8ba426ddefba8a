import { expect, test } from "vitest";
import { html } from "../../src/page/view/html.ts";
import { clusterId, labelList } from "../../src/page/view/parts.ts";
import { shortened } from "../../src/page/view/shortened.ts";

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

test("characters that change the direction of writing are shown by number, and kept in attributes", () => {
  const name = "a\u202Eb\u2066\u061C";
  const option = html`<option value="${name}">${name}</option>`;
  expect(option.text).toBe(`<option value="${name}">a\\u{202E}b\\u{2066}\\u{61C}</option>`);
  expect(html`<p>1 > 0 ${"\u200F"} ${html`<b>${"\u200E"}</b>`}</p>`.text).toBe(
    "<p>1 > 0 \\u{200F} <b>\\u{200E}</b></p>",
  );
});

test("long text is cut, and kept in attributes", () => {
  const long = "x".repeat(1000);
  expect(html`<p title="${long}">${long}</p>`.text).toBe(`<p title="${long}">${"x".repeat(479)}…</p>`);
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

test.each([
  ["", ""],
  ["carp", "carp"],
  ["carp0", "car…"],
  ["ab😀cd", "ab…"],
  ["a😀bcd", "a😀…"],
])("%o cut to four units is %o, without half a character", (text, cut) => {
  expect(shortened(text, 4)).toBe(cut);
});
