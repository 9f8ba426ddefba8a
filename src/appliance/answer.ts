/** A complete answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** A successful answer with a JSON text for its body. */
export function success(body: string): Answer {
  return { status: 200, headers: {}, body };
}

/** An answer that says in a few words what is wrong: `{"error": "..."}`. */
export function failure(status: number, error: string, headers: Answer["headers"] = {}): Answer {
  return { status, headers, body: JSON.stringify({ error }) };
}
