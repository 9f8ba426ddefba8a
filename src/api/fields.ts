import { isJsonObject } from "./json.ts";

/** Inclusive. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

const INTEGER_TEXT = /^[+-]?\d+$/;

/**
 * The integer in a JSON number (204, 204.0) or in a string ("204", white space around it); `undefined` if it is
 * missing, not an integer, or out of bounds.
 */
export function readInteger(value: unknown, bounds: Bounds): number | undefined {
  const number = toNumber(value);
  if (!Number.isInteger(number) || number < bounds.min || number > bounds.max) return undefined;
  // Turns -0 into 0.
  return number === 0 ? 0 : number;
}

function toNumber(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return Number.NaN;
  const text = value.trim();
  return INTEGER_TEXT.test(text) ? Number(text) : Number.NaN;
}

/** A string unchanged, a number as its decimal text, anything else as "". */
export function readText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}

/** An array, also written as an empty object; `undefined` for anything else. */
export function readList(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return isJsonObject(value) && Object.keys(value).length === 0 ? [] : undefined;
}

/** Whether a value is missing, null or an empty string. */
export function isUnknown(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}
