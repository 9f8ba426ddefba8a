import { createHmac, randomBytes } from "node:crypto";
import type { HttpClientConfig, PasswordSource } from "../config.ts";

/** Known to this process alone, so that a fingerprint that is shown cannot be tried out against guessed passwords. */
const PROCESS_KEY = randomBytes(32);

/**
 * Makes fingerprints that are equal for equal settings within one process, secrets compared too; of a password file the
 * path counts. Remembers the digest of each certificate, for whole fleets share a long list of them.
 */
export function createFingerprinter(): (settings: Omit<HttpClientConfig, "fingerprint">) => string {
  const digests = new Map<string, string>();
  const digestOnce = (pem: string | undefined) => {
    if (pem === undefined) return undefined;
    const known = digests.get(pem) ?? digest(pem);
    digests.set(pem, known);
    return known;
  };
  return ({ basicAuth, tls, proxy }) =>
    digest(
      JSON.stringify([
        basicAuth ? [basicAuth.username, ...passwordParts(basicAuth.password)] : null,
        { ...tls, ca: digestOnce(tls.ca), cert: digestOnce(tls.cert), key: tls.key?.reveal() },
        { ...proxy, credentials: proxy?.credentials?.reveal() },
      ]),
    );
}

function digest(text: string): string {
  return createHmac("sha256", PROCESS_KEY).update(text).digest("hex");
}

function passwordParts(source: PasswordSource): readonly string[] {
  return source.kind === "file" ? ["file", source.path] : ["inline", source.secret.reveal()];
}
