// This file is preloaded into the exporter's process. It answers each message with the longest pauses since the previous one, and with the
// time for which the event loop waited for a processor.
const { readFileSync } = require("node:fs");
const { monitorEventLoopDelay, PerformanceObserver, constants } = require("node:perf_hooks");

const RESOLUTION_MS = 1;
const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let collectionMs = 0;
/** @see https://docs.kernel.org/scheduler/sched-stats.html */
const waitedMs = () => readFileSync(`/proc/self/task/${process.pid}/schedstat`, "latin1").split(" ")[1] / 1e6;
let waitedBeforeMs = waitedMs();
new PerformanceObserver((list) => {
  for (const { detail, duration } of list.getEntries()) {
    if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collectionMs = Math.max(collectionMs, duration);
  }
}).observe({ entryTypes: ["gc"] });

process.on("message", () => {
  const starvedMs = waitedMs() - waitedBeforeMs;
  process.send({ longestMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS), collectionMs, starvedMs });
  waitedBeforeMs += starvedMs;
  delay.reset();
  collectionMs = 0;
});
// Threads load this file too.
process.channel?.unref();
