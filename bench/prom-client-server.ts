import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Gauge, Registry } from "prom-client";

// Serves the series of the file in the first argument from prom-client, on the port in the second.

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const [, , file = "", port = ""] = process.argv;
const registry = new Registry();
const gauges = new Map<string, Gauge>();
for (const [, name = "", labelText = "", value] of readFileSync(file, "utf8").matchAll(SAMPLE)) {
  const labels = Object.fromEntries(
    [...labelText.matchAll(LABEL)].map(([, label, content]) => [label, content ?? ""]),
  );
  const gauge =
    gauges.get(name) ??
    new Gauge({ name, help: "The same series.", labelNames: Object.keys(labels), registers: [registry] });
  gauges.set(name, gauge);
  gauge.set(labels, Number(value));
}
const compress = promisify(gzip);
createServer((request, response) => {
  void registry.metrics().then(async (text) => {
    if (request.headers["accept-encoding"] !== "gzip") return response.end(text);
    response.setHeader("content-encoding", "gzip");
    return response.end(await compress(text, { level: 1 }));
  });
}).listen(Number(port), "127.0.0.1");
