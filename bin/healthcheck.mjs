#!/usr/bin/env node
// Whether the exporter on this machine is healthy, as an exit code: 0 or 1. For the HEALTHCHECK of a container, which
// cannot know whether a web configuration turns TLS on. An argument says where it listens, 127.0.0.1:10849 by default,
// with the route prefix behind it where there is one.
import { request as plain } from "node:http";
import { request as secure } from "node:https";

const [address = "127.0.0.1:10849"] = process.argv.slice(2);
const signal = AbortSignal.timeout(2500);

/** Nobody between this machine and itself is to be kept out; what the exporter's settings leave of TLS is good enough. */
const LENIENT = { rejectUnauthorized: false, minVersion: "TLSv1", ciphers: "DEFAULT:@SECLEVEL=0" };

/** True or false, or nothing where no answer came in this protocol. */
function ask(request, protocol) {
  return new Promise((resolve) => {
    let hasAgreedOnKeys = false;
    const sent = request(
      `${protocol}://${address}/-/healthy`,
      { agent: false, signal, ...LENIENT },
      (answer) => {
        resolve(answer.statusCode === 200);
        answer.destroy();
      },
    );
    sent.on("socket", (socket) => socket.once("keylog", () => (hasAgreedOnKeys = true)));
    // Who agrees on keys and then hangs up, for want of a client's certificate, is alive.
    sent.on("error", ({ code }) => resolve(hasAgreedOnKeys && code === "ECONNRESET" ? true : undefined));
    sent.end();
  });
}

const isHealthy = (await ask(plain, "http")) ?? (await ask(secure, "https")) ?? false;
process.exit(isHealthy ? 0 : 1);
