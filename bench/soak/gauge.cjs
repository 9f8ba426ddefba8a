// Loaded into the exporter's process before the exporter: answers each message with what the process holds just then, and
// dates the exporter's own answers by the process's monotonic clock.
const { readdirSync } = require("node:fs");
const { ServerResponse } = require("node:http");
const { getHeapCodeStatistics } = require("node:v8");

process.on("message", () => {
  globalThis.gc();
  // What was let go by the runtime's own objects can be collected once they have heard of it.
  setImmediate(() => {
    globalThis.gc();
    const heapBytes = process.memoryUsage().heapUsed;
    const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const code = getHeapCodeStatistics();
    const codeBytes = code.code_and_metadata_size + code.bytecode_and_metadata_size;
    // One of them is the look at them.
    const descriptors = readdirSync("/proc/self/fd").length - 1;
    process.send({ atMs: performance.now(), heapBytes, codeBytes, timers, descriptors });
  });
});
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function writeDatedHead(...head) {
  this.setHeader("x-monotonic-ms", performance.now());
  return writeHead.apply(this, head);
};
// Nobody would end it once the soak has died.
process.on("disconnect", () => process.exit(1));
process.channel.unref();
