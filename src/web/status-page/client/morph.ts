/**
 * Makes the children of an element like those given and touches only what differs, so that focus, selection, scroll
 * positions and what was opened stay. Elements with a `data-key` are found again wherever they are.
 */
export function morphChildren(from: ParentNode & Node, to: ParentNode & Node): void {
  const wanted = new Set([...to.children].flatMap((child) => keyOf(child) ?? []));
  const keyed = new Map<string, Element>();
  // Lists of the DOM change under who walks them.
  for (const child of Array.from(from.children)) {
    const key = keyOf(child);
    if (key === undefined) continue;
    if (wanted.has(key)) keyed.set(key, child);
    else child.remove();
  }
  let cursor = from.firstChild;
  for (const next of Array.from(to.childNodes)) {
    const key = keyOf(next);
    const match = key === undefined ? skipTo(next, cursor) : keyed.get(key);
    if (match === undefined) from.insertBefore(next, cursor);
    else {
      if (match === cursor) cursor = match.nextSibling;
      else from.insertBefore(match, cursor);
      morphNode(match, next);
    }
  }
  removeFrom(cursor);
}

/** The node itself where it is of the same kind and has no key; what has one is found by it. */
function skipTo(next: Node, cursor: ChildNode | null): ChildNode | undefined {
  return cursor !== null && cursor.nodeName === next.nodeName && keyOf(cursor) === undefined
    ? cursor
    : undefined;
}

function keyOf(node: Node): string | undefined {
  return node instanceof HTMLElement ? node.dataset["key"] : undefined;
}

function morphNode(from: Node, to: Node): void {
  if (from instanceof Element && to instanceof Element) {
    morphAttributes(from, to);
    // Its words follow the clock, not what is rendered.
    if (!from.hasAttribute("data-wording")) morphChildren(from, to);
  } else if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
}

function morphAttributes(from: Element, to: Element): void {
  for (const { name, value } of Array.from(to.attributes)) {
    if (from.getAttribute(name) !== value && !isReaders(from, name)) from.setAttribute(name, value);
  }
  for (const { name } of Array.from(from.attributes)) {
    if (!to.hasAttribute(name) && !isReaders(from, name)) from.removeAttribute(name);
  }
}

/** What is open is the reader's choice. */
function isReaders(element: Element, attribute: string): boolean {
  return element instanceof HTMLDetailsElement && attribute === "open";
}

function removeFrom(first: ChildNode | null): void {
  for (let node = first; node !== null;) {
    const next = node.nextSibling;
    node.remove();
    node = next;
  }
}
