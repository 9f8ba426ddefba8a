import { createServer } from "node:https";
import { vrrpList, WEBSITE_TEST } from "./canned-answers.ts";
import { createAuthority } from "../src/demo/authority.ts";

/**
 * Any number of appliances at one address, each with its own path prefix. A separate process, so that its work is not
 * measured. Writes one line of JSON when it listens: its port and the authority to trust.
 */
const list = vrrpList("MASTER");
const authority = await createAuthority("Bench Authority");
const server = createServer(await authority.issue(), (request, response) => {
  response.setHeader("content-type", "application/json");
  response.end(request.url?.endsWith("/test") === true ? WEBSITE_TEST : list);
});
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ port, ca: authority.cert })}\n`);
});
process.on("disconnect", () => process.exit(0));
