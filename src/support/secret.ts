import { inspect } from "node:util";

const SHOWN = "<secret>";

/** A value that shows itself as `<secret>` to string conversion, JSON and inspection; only `reveal()` gives it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself; call it where it is used, never where it could be logged or thrown. */
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
