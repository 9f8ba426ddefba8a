/** An answer of the API. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
}

/** `body` is JSON. */
export function success(body: string): Answer {
  return { status: 200, headers: {}, body };
}

/** An answer with the body `{"error": "..."}`. */
export function failure(status: number, error: string, headers: Answer["headers"] = {}): Answer {
  return { status, headers, body: JSON.stringify({ error }) };
}
