// Prints the state of a keepalived as another user: UID OPTIONS (JSON). Imports come first, because that user may not
// read the modules.
import { createKeepalivedSource, type KeepalivedOptions } from "../../../src/appliance/keepalived.ts";

const [uid, json = ""] = process.argv.slice(2);
const options: KeepalivedOptions = { ...JSON.parse(json), instances: new Map() };
process.setgroups?.([]);
process.setgid?.(Number(uid));
process.setuid?.(Number(uid));
const logger = { info: () => {}, warn: () => {} };
const source = createKeepalivedSource(options, (pid, signal) => void process.kill(pid, signal), logger);
process.stdout.write(JSON.stringify(await source()));
