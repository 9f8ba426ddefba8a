/** The SHA-256 fingerprints of an appliance's certificates, in lower-case hex without colons, by its name. */
export type KnownCertificates = ReadonlyMap<string, readonly string[]>;

/** The fingerprint in lower-case hex without colons; `undefined` if it is not a SHA-256. */
export function parseFingerprint(text: string): string | undefined {
  const digits = text.replaceAll(":", "").toLowerCase();
  return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined;
}

/**
 * The certificates in the text of a `known_certificates_file`: lines of a name, white space and a SHA-256. Any certificate
 * of several lines for one name counts. @see checkKnownCertificates
 */
export function parseKnownCertificates(text: string): KnownCertificates {
  const known = new Map<string, string[]>();
  for (const { name, sha256 } of text.split("\n").map(parseLine)) {
    if (sha256 === "") continue;
    const others = known.get(name);
    if (others === undefined) known.set(name, [sha256]);
    else others.push(sha256);
  }
  return known;
}

/** The first line that is neither a certificate nor a comment nor blank, in words; `undefined` if all lines are valid. */
export function checkKnownCertificates(text: string): string | undefined {
  const invalid = text.split("\n").findIndex((line) => {
    const { name, sha256 } = parseLine(line);
    return name !== "" && sha256 === "";
  });
  return invalid < 0
    ? undefined
    : `line ${invalid + 1}: expected the name of an appliance and a SHA-256 fingerprint`;
}

/** The text with one line for each of these names, instead of its present lines; all other lines stay. */
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

/** Comments and blank lines have no name, invalid lines no fingerprint. The name may contain spaces. */
function parseLine(line: string): { readonly name: string; readonly sha256: string } {
  const text = line.trim();
  if (text.startsWith("#")) return { name: "", sha256: "" };
  const [, name = text, digits = ""] = /^(.*\S)\s+(\S+)$/s.exec(text) ?? [];
  return { name, sha256: parseFingerprint(digits) ?? "" };
}
