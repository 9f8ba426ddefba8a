// Prints the state of a keepalived as another user: UID OPTIONS (JSON). Imports come first, because that user may not
// read the modules.
import { createKeepalivedVrrp, type KeepalivedOptions } from "../../../src/appliance/vrrp-keepalived.ts";

const [uid, json = ""] = process.argv.slice(2);
const options: KeepalivedOptions = { ...JSON.parse(json), instances: new Map() };
process.setgroups?.([]);
process.setgid?.(Number(uid));
process.setuid?.(Number(uid));
const source = createKeepalivedVrrp(options, (pid, signal) => void process.kill(pid, signal));
process.stdout.write(JSON.stringify(await source()));
