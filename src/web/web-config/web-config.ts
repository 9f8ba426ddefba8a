import type { SecureVersion } from "node:tls";
import type { Secret } from "../../support/secret.ts";
import type { ClientAuth } from "./go-names.ts";

/** How our own server speaks TLS; texts are PEM. */
export interface TlsSettings {
  readonly cert: string;
  readonly key: Secret;
  /** Who signs clients' certificates; where it is missing, the well-known authorities do. */
  readonly clientCa: string | undefined;
  readonly clientAuth: ClientAuth;
  /** A client's certificate must be for one of these. */
  readonly clientAllowedSans: readonly string[] | undefined;
  readonly minVersion: SecureVersion;
  readonly maxVersion: SecureVersion;
  /** OpenSSL's names; `undefined` for the usual ones. */
  readonly cipherSuites: readonly string[] | undefined;
  /** Likewise. */
  readonly curves: readonly string[] | undefined;
  readonly preferServerCipherSuites: boolean;
}

/** Requests let through: one each interval, and `burst` of them at once after a pause. */
export interface RateLimit {
  readonly intervalMs: number;
  readonly burst: number;
}

/** How our own server is protected. */
export interface WebConfig {
  /** `undefined` for plain HTTP. */
  readonly tls: TlsSettings | undefined;
  /** bcrypt hashes by user name; where there are none, nobody is asked for a password. */
  readonly users: ReadonlyMap<string, Secret>;
  /** Set on every answer. */
  readonly headers: Readonly<Record<string, string>>;
  readonly rateLimit: RateLimit | undefined;
  /** `http2: true` was asked for, which is not served. */
  readonly wantsHttp2: boolean;
}
