import type { Failure } from "../exporter/api/failure.ts";
import { schemeAdvice } from "../exporter/api/advice.ts";
import type { ExporterAddress } from "./exporter-address.ts";

interface Access {
  readonly address: ExporterAddress;
  /** The file with the credentials; `undefined` without one. */
  readonly file: string | undefined;
}

const EXAMPLE =
  "put `http_client: { basic_auth: { username: NAME, password_file: FILE } }` into a file, such as operator.yaml, " +
  "and add --http.config.file=operator.yaml";

/** Returns what to do if a request of a command to an exporter fails; `undefined` if the failure says it. */
export function adviceOnExporter(failure: Failure, { address, file }: Access): string | undefined {
  const { reason, code, status, message } = failure;
  if (address.socketPath !== undefined)
    return reason === "connect" ? "Start the exporter, or give the URL of another one with --url" : undefined;
  if (status === 401 && file !== undefined)
    return `The exporter does not know this user, or not with this password: check basic_auth in ${file}`;
  if (status === 401) return `The exporter wants a password: ${EXAMPLE}${adviceOnSocket(address)}`;
  if (status === 403 && address.forbidden !== undefined)
    return `Use ${address.forbidden}, with sudo, or as a member of its group`;
  if (code === "refused")
    return `Nothing listens there: check that the exporter runs, and the host and port of --url${adviceOnSocket(address)}`;
  if (reason === "dns") return "Check the spelling of the host in --url, and the name server of this host";
  if (reason === "timeout") return "Check the host in --url, and that no firewall drops its packets";
  if (code === "no_tls") return "The port does not speak TLS: write http:// in --url, or another port";
  if (reason === "tls")
    return "Trust its certificate in --http.config.file: http_client: { tls_config: { ca_file: FILE } }";
  // The text of a refused change says more.
  if (status === 404 && message.startsWith("answered"))
    return "Write the route prefix of the exporter, if it has one, into --url";
  return address.url.protocol === "http:" ? schemeAdvice(failure) : undefined;
}

/** Returns how the socket of this host could be used, if this user may not. */
function adviceOnSocket({ forbidden }: ExporterAddress): string {
  return forbidden === undefined
    ? ""
    : `; or use ${forbidden}, which needs none, with sudo, or as a member of its group`;
}
