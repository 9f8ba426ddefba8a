// This file is preloaded into the exporter's process. It answers each message with the current resources of the process, and adds the
// monotonic time to the exporter's HTTP responses.
const { readdirSync } = require("node:fs");
const { ServerResponse } = require("node:http");
const { getHeapCodeStatistics } = require("node:v8");

process.on("message", () => {
  globalThis.gc();
  // A second collection frees objects whose owners Node.js releases only in the next turn.
  setImmediate(() => {
    globalThis.gc();
    const heapBytes = process.memoryUsage().heapUsed;
    const timers = process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const code = getHeapCodeStatistics();
    const codeBytes = code.code_and_metadata_size + code.bytecode_and_metadata_size;
    // One of the descriptors is from readdirSync.
    const descriptors = readdirSync("/proc/self/fd").length - 1;
    process.send({ atMs: performance.now(), heapBytes, codeBytes, timers, descriptors });
  });
});
const { writeHead } = ServerResponse.prototype;
ServerResponse.prototype.writeHead = function writeDatedHead(...head) {
  this.setHeader("x-monotonic-ms", performance.now());
  return writeHead.apply(this, head);
};
// Without this listener, the process would never end if the soak has died.
process.on("disconnect", () => process.exit(1));
process.channel?.unref();
