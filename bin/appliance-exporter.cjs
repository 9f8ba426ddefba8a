#!/usr/bin/env node
"use strict";
// Node.js before the supported versions reads this file too, so it uses only syntax that Node.js 10 knows.
var fs = require("fs");
var os = require("os");
var manifest = require("../package.json");

// Node.js would open its inspector on this signal, from its own first instant on. An inspector that a signal opened before this line is
// closed below.
process.on("SIGUSR1", function () {});

function closeInspector() {
  try {
    var inspector = require("inspector");
    // The inspector stays open if the operator requests it (--inspect).
    var options = process.execArgv.concat(process.env.NODE_OPTIONS || "").join(" ");
    if (!/--inspect(-brk|-wait)?(=| |$)/.test(options)) inspector.close();
  } catch {
    // This Node.js has been built without an inspector.
  }
}

/** Prints one line and ends. A stack trace would say nothing to the operator. */
function fail(line) {
  fs.writeSync(2, line + "\n");
  process.exit(1);
}

function isSupported(version, needed) {
  var is = version.slice(1).split(".").map(Number);
  var needs = needed.split(".").map(Number);
  return is[0] > needs[0] || (is[0] === needs[0] && is[1] >= needs[1]);
}

// The text has the form ">=20.19".
var needed = manifest.engines.node.slice(2);
if (!isSupported(process.version, needed)) {
  fail("appliance-exporter needs Node.js " + needed + " or newer; this is " + process.version);
}

// Name lookups, file reads and compression share libuv's threads. The default of four threads is too few when names stop resolving. libuv
// reads the number once, before any ES module runs, so this file is CommonJS.
process.env.UV_THREADPOOL_SIZE = process.env.UV_THREADPOOL_SIZE || "16";
// A lookup cannot be canceled, and the process cannot end before its threads. With these options, the C library gives up on a silent
// resolver after seconds, not after half a minute. See resolv.conf(5).
process.env.RES_OPTIONS = process.env.RES_OPTIONS || "timeout:1 attempts:2";
// By default the heap may grow to a multiple between two collections. The first flag saves a third of the memory of a large fleet for a few
// percent of CPU. By default, the event loop also marks the heap while other threads do, which makes polls late. The second flag prevents
// that. The variable replaces these flags; an empty value sets none.
var flags = process.env.APPLIANCE_EXPORTER_V8_FLAGS;
if (flags === undefined) flags = "--heap-growing-percent=40 --no-incremental-marking-task";
require("v8").setFlagsFromString(flags);
// V8 collects the heap in up to four threads. With the event loop's priority, these threads would take the processors from it for up to a
// second. No other thread has been started yet. Linux has a priority for each thread, and lists the threads.
try {
  var lower = os.getPriority() + os.constants.priority.PRIORITY_BELOW_NORMAL;
  fs.readdirSync("/proc/self/task").forEach(function (thread) {
    if (Number(thread) !== process.pid) os.setPriority(Number(thread), lower);
  });
} catch {
  // The program also runs without these priorities, with longer pauses.
}
// The program takes over the signals when it has been loaded. Until then, a signal ends a command that serves in good order, and a request
// to reload changes nothing. A signal kills every other command, since the exit code 0 would be a result.
function end() {
  process.exit(0);
}
if (/^(-.*|run|demo|appliance)$/.test(process.argv[2] || "run")) {
  process.on("SIGTERM", end).on("SIGINT", end).on("SIGUSR2", end);
}
process.on("SIGHUP", function () {});

closeInspector();
setImmediate(closeInspector);
import("../dist/main.js").catch(function (error) {
  // Once it is loaded, the program reports its errors itself.
  if (process.listenerCount("unhandledRejection") > 0) throw error;
  fail("appliance-exporter cannot be loaded: " + describe(error));
});

function describe(error) {
  if (error && (error.code === "EMFILE" || error.code === "ENFILE")) {
    return "too many open files; it needs a limit of 256 open files or more (ulimit -n)";
  }
  return String((error && error.message) || error).split("\n")[0];
}
