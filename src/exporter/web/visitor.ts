import type { IncomingMessage, ServerResponse } from "node:http";

/** The sender of a request. */
export interface Visitor {
  /** The user; `undefined` for a client without a password and without a client certificate that is required and verified. */
  readonly user:
    | { readonly name: string; /** Whether the user may change planned work. */ readonly maintains: boolean }
    | undefined;
  /** Whether the request came over the local socket, so that it may do what flags have to enable for others; default: not. */
  readonly isLocal?: boolean;
  /** The body of a POST request. */
  readonly body: Promise<Buffer | undefined>;
}

/** The visitor is absent where nothing guards the handler. */
export type Handler = (request: IncomingMessage, response: ServerResponse, visitor?: Visitor) => void;

export const STRANGER: Visitor = { user: undefined, body: Promise.resolve(undefined) };
