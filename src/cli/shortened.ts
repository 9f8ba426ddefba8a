/** Length of a name that leaves room beside it. */
export const NAME_LENGTH = 240;

/**
 * The text cut to `length` UTF-16 units, with an ellipsis as the last of them. No character is halved. Appliances supply
 * texts of any length; one of them must not hide the others.
 */
export function shortened(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, "")}…`;
}
