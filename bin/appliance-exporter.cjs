#!/usr/bin/env node
// Name look-ups, file reads and compression share libuv's threads, four by default: too few when names stop
// resolving. The size is read once, before any ES module runs, hence this small CommonJS door.
process.env.UV_THREADPOOL_SIZE ??= "16";
// A look-up cannot be called off, and the process cannot end before its threads: a resolver that stays silent is given up
// after seconds, not after half a minute. See resolv.conf(5).
process.env.RES_OPTIONS ??= "timeout:1 attempts:2";
// The program takes over when it has been loaded; a signal until then is an orderly end, or a reload of nothing.
const end = () => process.exit(0);
process
  .on("SIGTERM", end)
  .on("SIGINT", end)
  .on("SIGHUP", () => {});
void import("../dist/main.js");
