/** So long a name still leaves room for what stands beside it. */
export const NAME_LENGTH = 240;
/** So long may a sentence be, with the names in it. */
export const SENTENCE_LENGTH = 480;

/**
 * A text as people are to see it: at most so many UTF-16 units of it, the last an ellipsis where there were more, and no
 * character halved. For what appliances supply, of which one could hide all the others.
 */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
