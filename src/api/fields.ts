import { isJsonObject } from "./json.ts";

/** Inclusive. */
export interface Bounds {
  readonly min: number;
  readonly max: number;
}

const INTEGER_TEXT = /^[+-]?\d+$/;

/**
 * The integer that a JSON number (204, 204.0) or a string ("204", white space around it) holds; `undefined` where it
 * is missing, no integer, or out of bounds.
 */
export function readInteger(value: unknown, bounds: Bounds): number | undefined {
  const number = toNumber(value);
  if (!Number.isInteger(number) || number < bounds.min || number > bounds.max) return undefined;
  // -0 is an integer too, and would print as one.
  return number === 0 ? 0 : number;
}

function toNumber(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value !== "string") return Number.NaN;
  const text = value.trim();
  return INTEGER_TEXT.test(text) ? Number(text) : Number.NaN;
}

/** A string as it is, a number as its decimal text, anything else as the empty text. */
export function readText(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isFinite(value) ? String(value) : "";
}

/** How many texts an array holds, empty ones not counted; 0 if it is missing or empty in any way; `undefined` if it is anything else. */
export function countTexts(value: unknown): number | undefined {
  if (isEmpty(value)) return 0;
  if (!Array.isArray(value) || value.some((item) => typeof item !== "string")) return undefined;
  return value.filter((text) => text !== "").length;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  return isJsonObject(value) && Object.keys(value).length === 0;
}
