import { inspect } from "node:util";

/** A value that string conversion, JSON and inspection show as `<secret>`; only `reveal()` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** Returns the value, which must not reach a log line or an error message. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return "<secret>";
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}
