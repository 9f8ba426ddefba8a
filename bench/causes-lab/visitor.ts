import { connect } from "node:net";

/** Asks an address every 50 ms which node has it, and prints a line for each request, in order: when it was sent, and the node or `-`. */
const EVERY_MS = 50;
const TIMEOUT_MS = 500;
const [host = "", port = ""] = process.argv.slice(2);

let printed: Promise<unknown> = Promise.resolve();
setInterval(() => {
  const sentMs = Date.now();
  const node = ask();
  printed = printed.then(async () => process.stdout.write(`${sentMs} ${await node}\n`));
}, EVERY_MS);

function ask(): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect({ host, port: Number(port), timeout: TIMEOUT_MS });
    const end = setTimeout(() => socket.destroy(), TIMEOUT_MS);
    socket.setEncoding("utf8").on("error", () => {});
    socket.on("data", (text) => (answer += text));
    socket.on("close", () => {
      clearTimeout(end);
      resolve(/^X-Node: (\S+)/im.exec(answer)?.[1] ?? "-");
    });
    socket.end("GET / HTTP/1.0\r\n\r\n");
  });
}
