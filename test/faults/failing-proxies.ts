import { answer, closesAtRequest, drips, resetsAtRequest, says, saysAndEnds, silent } from "./behaviours.ts";
import { behindProxy } from "./endpoints.ts";
import type { FailingPoll } from "./failing-polls.ts";

const STAYS_SILENT = "no complete answer within 3000 ms; the proxy had not answered CONNECT";

/** Proxies that do not let the exporter through to a healthy appliance. */
export const FAILING_PROXIES: readonly FailingPoll[] = [
  {
    fault: 12,
    name: "a proxy that answers 407",
    open: behindProxy(says(answer("", "407 Proxy Authentication Required"))),
    reason: "proxy",
    detail: "the proxy answered CONNECT with status 407",
  },
  {
    fault: 12,
    name: "a proxy that stays silent",
    open: behindProxy(silent),
    reason: "proxy",
    detail: STAYS_SILENT,
    isSlow: true,
  },
  {
    fault: 12,
    name: "a proxy whose answer drips",
    open: behindProxy(drips("HTTP/1.1 200 OK\r\n", "X: y\r\n")),
    reason: "proxy",
    detail: STAYS_SILENT,
    isSlow: true,
  },
  {
    fault: 12,
    name: "a proxy that closes",
    open: behindProxy(closesAtRequest),
    reason: "proxy",
    detail: "the proxy closed the connection before it answered CONNECT",
  },
  {
    fault: 12,
    name: "a proxy that resets",
    open: behindProxy(resetsAtRequest),
    reason: "proxy",
    detail: "the connection to the proxy broke (read ECONNRESET)",
  },
  {
    fault: 12,
    name: "a proxy that does not speak HTTP",
    open: behindProxy(saysAndEnds("SSH-2.0-OpenSSH_9.6\r\n\r\n")),
    reason: "proxy",
    detail: "the proxy does not answer CONNECT in HTTP",
  },
  {
    fault: 12,
    name: "a proxy that nobody runs",
    open: behindProxy(undefined),
    reason: "proxy",
    detail: /^the proxy is unreachable \(connect ECONNREFUSED 127\.0\.0\.1:\d+\)$/,
  },
];
