import { createServer } from "node:http";
import { connect, createServer as createSocketServer } from "node:net";
import { json } from "node:stream/consumers";

// The one way between the lab's network and the tests, for as long as it lives. Out: each notification of Alertmanager
// becomes a line with the time at which it came. In: connections to a socket in the file system go to Prometheus.
const [webhookPort, prometheusPort, socket = ""] = process.argv.slice(2);

const webhook = createServer((request, response) => {
  const atMs = Date.now();
  void json(request).then((body) => {
    process.stdout.write(`${JSON.stringify({ atMs, body })}\n`);
    return response.end();
  });
});

const way = createSocketServer((outer) => {
  const inner = connect(Number(prometheusPort), "127.0.0.1");
  outer.pipe(inner).pipe(outer);
  // Whichever ends first takes the other along.
  inner.on("error", () => outer.destroy());
  outer.on("error", () => inner.destroy());
});

webhook.listen(Number(webhookPort), "127.0.0.1", () => {
  way.listen(socket, () => process.stdout.write("open\n"));
});
