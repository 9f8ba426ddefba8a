import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "../test/support/certificates.ts";
import { startProcess } from "./process.ts";
import { until } from "./support.ts";

/** The name that the certificate of every appliance is for. */
export const SERVER_NAME = "appliance.bench";

/** A fleet of any number of appliances behind one nginx, each at its own address. */
export interface NginxFleet {
  /** Returns `https://127.20.0.1:port` and so on. */
  origin(index: number): string;
  /** The PEM text of the authority to trust. */
  readonly ca: string;
  stop(): Promise<void>;
}

const PORT = 21_850;

/**
 * Starts Debian's nginx on every address of the loopback interface: TLS 1.3, session tickets, connections kept for 15
 * minutes. Every other appliance, from the first on, is MASTER of its groups. VRRP lists are always the same; website
 * tests have a `Date` that changes every second, as real ones do.
 */
export async function startNginxFleet(): Promise<NginxFleet> {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-nginx-"));
  const authority = await createAuthority("Bench Authority");
  const { cert, key } = await authority.issue({ hosts: [SERVER_NAME] });
  const files = {
    "cert.pem": cert,
    "key.pem": key,
    "master.json": vrrpList("MASTER"),
    "backup.json": vrrpList("BACKUP"),
    "nginx.conf": configText(folder),
  };
  await mkdir(join(folder, "temp"));
  // nginx is started by root, and reads the answers as another user.
  await chmod(folder, 0o755);
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const nginx = startProcess("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", "stderr"]);
  await until(() => canConnect(), 10_000);
  return {
    origin: (index) => `https://127.20.${(index + 1) >> 8}.${(index + 1) & 255}:${PORT}`,
    ca: authority.cert,
    stop: async () => {
      await nginx.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Returns a list of two interfaces. */
function vrrpList(state: "MASTER" | "BACKUP"): string {
  const details = (vhid: string, vip: string) => ({
    advskew: "50",
    alias: [],
    carppeer: "224.0.0.18",
    if: "eth1",
    netmask: "255.255.255.0",
    priority: "204",
    state_current: state,
    type: "1",
    vhid,
    vip,
  });
  return JSON.stringify({ carp0: details("2", "192.0.2.100"), carp1: details("3", "192.0.2.101") });
}

/** nginx reads a backslash in a quoted string as an escape. */
const WEBSITE_TEST = JSON.stringify(
  "HTTP CONNECT ------------------------------------------------- HTTP\nHTTP/1.1 301 Moved Permanently\nLocation: https://www.example.org/\n\n" +
    "HTTP CONNECT ------------------------------------------------- HTTPS\nHTTP/1.1 200 OK\nDate: $date_gmt\nContent-Type: text/html\n\n",
).replaceAll("\\", "\\\\");

/** The number of websites in the list of every appliance. */
export const LISTED_WEBSITES = 20;
const WEBSITE_LIST = JSON.stringify(Array.from({ length: LISTED_WEBSITES }, (_, nth) => String(nth + 1)));
const WEBSITE_DETAILS = JSON.stringify({
  bind: ["192.0.2.100"],
  deployment: "1",
  id: "$1",
  mirror_of: "0",
  mode: "1",
  name: "shop $1",
  rhost: [
    ["https", "192.0.2.81", "8080", "1", "1", "443"],
    ["https", "192.0.2.82", "8080", "1", "1", "443"],
  ],
  sec: { ts: "1" },
  status: "1",
  vhost: {
    as: "",
    name: "shop$1.example",
    port: "443",
    port2: "",
    proto: "https",
    proxy_protocol_enabled: "0",
  },
});

function configText(folder: string): string {
  const temp = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
daemon off;
pid ${folder}/nginx.pid;
worker_processes auto;
events { worker_connections 16384; }
http {
  access_log off;
  error_log stderr error;
${temp.map((name) => `  ${name}_temp_path ${folder}/temp;`).join("\n")}
  open_file_cache max=10;
  keepalive_timeout 900s;
  keepalive_requests 1000000;
  ssl_protocols TLSv1.3;
  ssl_session_tickets on;
  default_type application/json;
  map $server_addr $role { ~[13579]$ master; default backup; }
  server {
    listen 0.0.0.0:${PORT} ssl backlog=4096;
    ssl_certificate ${folder}/cert.pem;
    ssl_certificate_key ${folder}/key.pem;
    root ${folder};
    location = /api/v1/interface/virtual { try_files /$role.json =404; }
    location = /api/v1/website { return 200 '${WEBSITE_LIST}'; }
    location ~ ^/api/v1/website/([0-9]+)$ { return 200 '${WEBSITE_DETAILS}'; }
    location ~ ^/api/v1/website/[0-9]+/test$ { return 200 '${WEBSITE_TEST}'; }
  }
}
`;
}

function canConnect(): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(PORT, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(undefined));
  });
}
