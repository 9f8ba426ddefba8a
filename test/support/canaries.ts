/** What to search for where nothing of a secret may show. */
export interface Canaries {
  /** Texts that hold a secret. */
  readonly texts: readonly string[];
  /** Users to whom one of them may belong as a password. */
  readonly users: readonly string[];
  /** PEM texts of private keys. */
  readonly keys: readonly string[];
}

/** A search for secrets in all their forms; it yields those that it has found. */
export type FindLeaks = (text: string) => readonly string[];

export function createLeakSearch({ texts, users, keys }: Canaries): FindLeaks {
  const forbidden = [
    ...texts.flatMap((secret) => [
      secret,
      encodeURIComponent(secret),
      ...["", ...users.map((user) => `${user}:`)].flatMap((prefix) => encodings(`${prefix}${secret}`)),
    ]),
    "PRIVATE KEY",
    ...keys
      .flatMap((key) => key.split("\n"))
      .filter((line) => line.length > 40 && !line.includes("-----"))
      // As much as is left of it where it is cut.
      .map((line) => line.slice(0, 24)),
  ];
  return (text) => forbidden.filter((form) => text.includes(form));
}

function encodings(text: string): readonly string[] {
  const bytes = Buffer.from(text);
  const base64 = bytes.toString("base64").replace(/=+$/, "");
  return [base64, bytes.toString("base64url"), bytes.toString("hex"), encodeURIComponent(base64)];
}
