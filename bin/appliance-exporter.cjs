#!/usr/bin/env node
// Name look-ups, file reads and compression share libuv's threads, four by default: too few when names stop
// resolving. The size is read once, before any ES module runs, hence this small CommonJS door.
process.env.UV_THREADPOOL_SIZE ??= "16";
import("../dist/main.js");
