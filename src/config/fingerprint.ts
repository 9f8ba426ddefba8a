import { createHmac, randomBytes } from "node:crypto";
import type { HttpClientConfig, PasswordSource } from "./config.ts";

/** Known to this process alone, so that a fingerprint that is shown cannot be tried out against guessed passwords. */
const PROCESS_KEY = randomBytes(32);

/** Equal for equal settings within one process, secrets compared too; of a password file the path counts. */
export function fingerprintOf({ basicAuth, tls, proxyUrl }: Omit<HttpClientConfig, "fingerprint">): string {
  const settings = [
    basicAuth ? [basicAuth.username, ...passwordParts(basicAuth.password)] : null,
    { ...tls, key: tls.key?.reveal() },
    proxyUrl?.reveal(),
  ];
  return createHmac("sha256", PROCESS_KEY).update(JSON.stringify(settings)).digest("hex");
}

function passwordParts(source: PasswordSource): readonly string[] {
  return source.kind === "file" ? ["file", source.path] : ["inline", source.secret.reveal()];
}
