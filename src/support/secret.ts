import { inspect } from "node:util";

const SHOWN = "<secret>";

/** A value that string conversion, JSON and inspection show as `<secret>`; only `reveal()` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; must not reach a log line or an error message. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  [inspect.custom](): string {
    return SHOWN;
  }
}
