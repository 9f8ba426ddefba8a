import { connect } from "node:net";

/**
 * The program sends requests again and again, and prints a line for each, in order: when it was sent, and what answered (`X-Node`,
 * `X-Mode`) or `-`.
 */
const TIMEOUT_MS = 500;
const [host = "", port = "", everyMs = ""] = process.argv.slice(2);

let printed: Promise<unknown> = Promise.resolve();
setInterval(() => {
  const sentMs = Date.now();
  const answer = ask();
  printed = printed.then(async () => process.stdout.write(`${sentMs} ${await answer}\n`));
}, Number(everyMs));

function ask(): Promise<string> {
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect({ host, port: Number(port), timeout: TIMEOUT_MS });
    const end = setTimeout(() => socket.destroy(), TIMEOUT_MS);
    socket.setEncoding("utf8").on("error", () => {});
    socket.on("data", (text) => (answer += text));
    socket.on("close", () => {
      clearTimeout(end);
      resolve(/^HTTP\S+ 2[^]*^X-\w+: (\S+)/im.exec(answer)?.[1] ?? "-");
    });
    socket.write("GET / HTTP/1.0\r\n\r\n");
  });
}
