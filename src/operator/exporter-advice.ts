import type { Failure } from "../exporter/api/failure.ts";
import { schemeAdvice } from "../exporter/api/advice.ts";

/** How a command reaches an exporter. */
interface Access {
  readonly isPlain: boolean;
  /** The file with the credentials; `undefined` without one. */
  readonly file: string | undefined;
}

const EXAMPLE =
  "put `http_client: { basic_auth: { username: NAME, password_file: FILE } }` into a file, such as operator.yaml, " +
  "and add --http.config.file=operator.yaml";

/** Returns what to do if a request of a command to an exporter fails; `undefined` if the failure says it. */
export function adviceOnExporter(failure: Failure, { isPlain, file }: Access): string | undefined {
  const { reason, code, status, message } = failure;
  if (status === 401)
    return file === undefined
      ? `The exporter wants a password: ${EXAMPLE}`
      : `The exporter does not know this user, or not with this password: check basic_auth in ${file}`;
  if (code === "refused")
    return "Nothing listens there: check that the exporter runs, and the host and port of --url";
  if (reason === "dns") return "Check the spelling of the host in --url, and the name server of this host";
  if (reason === "timeout") return "Check the host in --url, and that no firewall drops its packets";
  if (reason === "tls")
    return code === "no_tls"
      ? "The port does not speak TLS: write http:// in --url, or another port"
      : "Trust its certificate in --http.config.file: http_client: { tls_config: { ca_file: FILE } }";
  // The text of a refused change says more.
  if (status === 404 && message.startsWith("answered"))
    return "Write the route prefix of the exporter, if it has one, into --url";
  return isPlain ? schemeAdvice(failure) : undefined;
}
