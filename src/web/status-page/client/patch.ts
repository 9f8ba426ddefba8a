import type { Html } from "../view/html.ts";
import { morphChildren } from "./morph.ts";

/** What was last rendered into an element. */
const rendered = new WeakMap<Element, string>();

/** Shows markup in an element; where it is what was shown before, nothing is touched. True where something was. */
export function patch(element: Element, { text }: Html): boolean {
  if (rendered.get(element) === text) return false;
  // Should it fail half way, nobody knows what is shown.
  rendered.delete(element);
  morphChildren(element, parse(text));
  rendered.set(element, text);
  return true;
}

/** Nodes of markup; a template runs nothing. */
export function parse(text: string): DocumentFragment {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}
