/** Puts the items of a list in their order and moves those alone that are elsewhere. */
export function arrange(list: Element, items: readonly Element[]): void {
  const wanted = new Set(items);
  // What belongs elsewhere goes first, so that it does not make its neighbours move.
  for (const child of Array.from(list.children)) {
    if (!wanted.has(child)) child.remove();
  }
  let cursor = list.firstElementChild;
  for (const item of items) {
    if (item === cursor) cursor = cursor.nextElementSibling;
    else list.insertBefore(item, cursor);
  }
}

/** An element that is moved loses the focus: it is given back. */
export function keepingFocus(work: () => void): void {
  const focused = document.activeElement;
  work();
  if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) {
    focused.focus({ preventScroll: true });
  }
}
