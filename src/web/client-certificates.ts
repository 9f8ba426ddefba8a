import { isIPv6, SocketAddress } from "node:net";
import type { TLSSocket } from "node:tls";
import type { TlsSettings } from "./web-config/web-config.ts";

type ClientRules = Pick<TlsSettings, "clientAuth" | "clientAllowedSans">;

/** Whether clients are asked for a certificate at all. */
export function asksForCertificate({ clientAuth }: ClientRules): boolean {
  return clientAuth !== "NoClientCert";
}

/** Whether a client whose handshake is over may go on. */
export function isClientAccepted({ clientAuth, clientAllowedSans }: ClientRules, socket: TLSSocket): boolean {
  const certificate = socket.getPeerX509Certificate();
  const isAllowed = (): boolean =>
    clientAllowedSans === undefined || hasAllowedSan(certificate?.subjectAltName, clientAllowedSans);
  switch (clientAuth) {
    case "NoClientCert":
    case "RequestClientCert":
      return true;
    case "RequireAnyClientCert":
      return certificate !== undefined && isAllowed();
    case "VerifyClientCertIfGiven":
      return certificate === undefined || socket.authorized;
    case "RequireAndVerifyClientCert":
      return certificate !== undefined && socket.authorized && isAllowed();
    default:
      return clientAuth satisfies never;
  }
}

/** Names of the kinds that may be allowed, as the runtime writes them: one that holds a comma or a quote stands as JSON. */
const NAME = /(DNS|email|URI|IP Address|[^:,"]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;
const KINDS: ReadonlySet<string | undefined> = new Set(["DNS", "email", "URI", "IP Address"]);

/** Whether one of a certificate's alternative names is allowed; addresses in whatever spelling. */
export function hasAllowedSan(subjectAltName: string | undefined, allowed: readonly string[]): boolean {
  const names = new Set(allowed.map(canonical));
  return readNames(subjectAltName ?? "").some((name) => names.has(canonical(name)));
}

/** As far as the text is of the known form: what cannot be read allows nothing. */
function readNames(text: string): readonly string[] {
  return [...text.matchAll(new RegExp(NAME, "gy"))].flatMap(([, kind, value = ""]) =>
    KINDS.has(kind) ? [value.startsWith('"') ? unquote(value) : value] : [],
  );
}

function unquote(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return "";
  }
}

function canonical(name: string): string {
  return isIPv6(name) ? new SocketAddress({ address: name, family: "ipv6" }).address : name;
}
