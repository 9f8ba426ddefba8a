import { createServer } from "node:https";
import { createAuthority } from "../src/demo/authority.ts";

/**
 * Any number of appliances at one address, each below a path of its own, in a process of its own so that its work is not
 * counted as ours. Writes one line of JSON when it listens: its port and the authority to trust.
 */
const LIST = JSON.stringify({
  carp0: vrrpDetails("2", "192.0.2.100"),
  carp1: vrrpDetails("3", "192.0.2.101"),
});
const TEST = JSON.stringify(
  "HTTP CONNECT ------------------------------------------------- HTTP\nHTTP/1.1 301 Moved Permanently\nLocation: https://www.example.org/\n\n" +
    "HTTP CONNECT ------------------------------------------------- HTTPS\nHTTP/1.1 200 OK\nContent-Type: text/html\n\n",
);

function vrrpDetails(vhid: string, vip: string): Record<string, unknown> {
  const fixed = { advskew: "50", alias: [], carppeer: "224.0.0.18", if: "eth1", netmask: "255.255.255.0" };
  return { ...fixed, priority: "204", state_current: "MASTER", type: "1", vhid, vip };
}

const authority = await createAuthority("Bench Authority");
const server = createServer(await authority.issue(), (request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(request.url?.endsWith("/test") === true ? TEST : LIST);
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ port, ca: authority.cert })}\n`);
});
process.on("disconnect", () => process.exit(0));
