#!/usr/bin/env node
// The program exits with 0 if the exporter on this machine is healthy, and with 1 otherwise. The HEALTHCHECK of a container runs this
// program, since the container cannot know whether a web configuration turns TLS on. The argument is the address of the exporter, with its
// route prefix if there is one; default: 127.0.0.1:10849.
import { request as plain } from "node:http";
import { request as secure } from "node:https";

const [address = "127.0.0.1:10849"] = process.argv.slice(2);
const signal = AbortSignal.timeout(2500);

/** The connection does not leave this machine, so any TLS that the exporter's settings allow is secure enough. */
const LENIENT = { rejectUnauthorized: false, minVersion: "TLSv1", ciphers: "DEFAULT:@SECLEVEL=0" };

/** Resolves to whether the exporter is healthy, or to nothing if no answer came in this protocol. */
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
    // An exporter that agrees on keys and then closes the connection, since it wants a client certificate, is alive.
    sent.on("error", ({ code }) => resolve(hasAgreedOnKeys && code === "ECONNRESET" ? true : undefined));
    sent.end();
  });
}

const isHealthy = (await ask(plain, "http")) ?? (await ask(secure, "https")) ?? false;
process.exit(isHealthy ? 0 : 1);
