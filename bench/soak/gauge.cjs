// Loaded into the exporter's process before the exporter: answers each message with what the process holds just then.
const { readdirSync } = require("node:fs");

process.on("message", () => {
  globalThis.gc();
  const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
  const heapBytes = process.memoryUsage().heapUsed;
  // One of them is the look at them.
  process.send({ heapBytes, timers, descriptors: readdirSync("/proc/self/fd").length - 1 });
});
process.channel.unref();
