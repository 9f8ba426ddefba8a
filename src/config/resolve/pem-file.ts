import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** What makes a PEM text unfit to be certificates (an authority's or a chain), or `undefined`; nothing of it is quoted. */
export function checkCertificates(pem: string): string | undefined {
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) return "it holds no PEM certificate";
  return blocks.every(isCertificate) ? undefined : "it holds a PEM certificate that cannot be parsed";
}

function isCertificate(block: string): boolean {
  return attempt(() => new X509Certificate(block)) !== undefined;
}

/** What makes a PEM text unfit to be a private key without a passphrase, or `undefined`; nothing of it is quoted. */
export function checkPrivateKey(pem: string): string | undefined {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem)) {
    return "its key is encrypted; a key without a passphrase is needed";
  }
  return attempt(() => createPrivateKey(pem)) ? undefined : "it holds no PEM private key";
}

/** Why a sound certificate and a sound key do not go together, or `undefined`. */
export function checkKeyPair(cert: string, key: string): string | undefined {
  const matches = attempt(() => new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)));
  if (matches !== true) return "the key does not belong to the certificate in cert_file";
  // OpenSSL has the last word: it refuses keys that are too short, for one.
  return attempt(() => createSecureContext({ cert, key }))
    ? undefined
    : "TLS refuses this key and its certificate";
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
