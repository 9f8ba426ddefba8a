import { Idiomorph } from "idiomorph";

/** Makes `state` equal to `next`. The reader's focus, selection, typed text and scroll positions stay. */
export function merge(state: HTMLElement, next: HTMLElement): void {
  const focused = document.activeElement;
  void Idiomorph.morph(state, next, { callbacks: { beforeNodeMorphed } });
  // Browsers without moveBefore() take the focus from an element that moves.
  if (focused instanceof HTMLElement && focused !== document.activeElement)
    focused.focus({ preventScroll: true });
}

/** False if the node needs no change, or was changed here. */
function beforeNodeMorphed(node: Node, next: Node): boolean {
  if (node instanceof Text) changeText(node, next.nodeValue ?? "");
  // The text in it is the reader's.
  return !(node instanceof Text || node instanceof HTMLInputElement || node.isEqualNode(next));
}

/** Replaces only the characters that differ: a selection that begins or ends in the others stays. */
function changeText(node: Text, next: string): void {
  const { data } = node;
  if (data === next) return;
  const shorter = Math.min(data.length, next.length);
  let [start, end] = [0, 0];
  while (start < shorter && data[start] === next[start]) start += 1;
  while (end < shorter - start && data.at(-1 - end) === next.at(-1 - end)) end += 1;
  node.replaceData(start, data.length - start - end, next.slice(start, next.length - end));
}
