/**
 * Returns the fingerprint in OpenSSL's format, in upper case with colons. Accepts lower case, and digits without colons. Returns
 * `undefined` for any text but a SHA-256.
 */
export function parseFingerprint(text: string): string | undefined {
  const digits = text.replaceAll(":", "").toUpperCase();
  return /^[0-9A-F]{64}$/.test(digits) ? digits.replace(/..(?!$)/g, "$&:") : undefined;
}

/**
 * Returns the certificates in the text of a `known_certificates_file`: lines of a name, white space and a SHA-256. Any of several lines for
 * one name counts. `invalidLine` is the number of the first line that is neither such a line nor a comment nor blank.
 */
export function parseKnownCertificates(text: string) {
  const known = new Map<string, string[]>();
  let invalidLine: number | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    const { name, sha256 } = parseLine(line);
    if (sha256 !== "") known.set(name, [...(known.get(name) ?? []), sha256]);
    else if (name !== "") invalidLine ??= index + 1;
  }
  return { known, invalidLine };
}

/** Returns the text with one line for each of these names, instead of its present lines; all other lines stay. */
export function replaceCertificates(text: string, trusted: ReadonlyMap<string, string>): string {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  const left = new Map(trusted);
  const kept = lines.flatMap((line) => {
    const { name } = parseLine(line);
    const sha256 = left.get(name);
    left.delete(name);
    if (sha256 !== undefined) return [`${name} ${sha256}`];
    return trusted.has(name) ? [] : [line];
  });
  return [...kept, ...Array.from(left, ([name, sha256]) => `${name} ${sha256}`), ""].join("\n");
}

/** Returns the parts of a line. Comments and blank lines have no name, invalid lines no fingerprint. The name may contain spaces. */
function parseLine(line: string): { readonly name: string; readonly sha256: string } {
  const text = line.trim();
  if (text.startsWith("#")) return { name: "", sha256: "" };
  const [, name = text, digits = ""] = /^(.*\S)\s+(\S+)$/s.exec(text) ?? [];
  return { name, sha256: parseFingerprint(digits) ?? "" };
}
