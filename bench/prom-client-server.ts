import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { Gauge, Registry } from "prom-client";
import { groupBy } from "../src/support/group-by.ts";

// The program serves the series of the file in the first argument from prom-client, on the port in the second.

const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const [, , file = "", port = ""] = process.argv;
const registry = new Registry();
const samples = Array.from(
  readFileSync(file, "utf8").matchAll(SAMPLE),
  ([, name = "", labels = "", value]) => ({
    name,
    labels: Object.fromEntries(
      Array.from(labels.matchAll(LABEL), ([, label, content]) => [label, content ?? ""]),
    ),
    value: Number(value),
  }),
);
for (const [name, series] of groupBy(samples, (sample) => sample.name)) {
  const labelNames = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))];
  const gauge = new Gauge({ name, help: "The same series.", labelNames, registers: [registry] });
  for (const { labels, value } of series) gauge.set(labels, value);
}
const compress = promisify(gzip);
createServer((request, response) => {
  void registry.metrics().then(async (text) => {
    if (request.headers["accept-encoding"] !== "gzip") return response.end(text);
    response.setHeader("content-encoding", "gzip");
    return response.end(await compress(text, { level: 1 }));
  });
}).listen(Number(port), "127.0.0.1");
