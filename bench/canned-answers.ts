/** A VRRP list of two interfaces. */
export function vrrpList(state: "MASTER" | "BACKUP"): string {
  const details = (vhid: string, vip: string) => ({ ...FIXED, state_current: state, vhid, vip });
  return JSON.stringify({ carp0: details("2", "192.0.2.100"), carp1: details("3", "192.0.2.101") });
}

const FIXED = {
  advskew: "50",
  alias: [],
  carppeer: "224.0.0.18",
  if: "eth1",
  netmask: "255.255.255.0",
  priority: "204",
  type: "1",
};

/** A test of a website that answers over HTTP and HTTPS. */
export const WEBSITE_TEST = JSON.stringify(
  "HTTP CONNECT ------------------------------------------------- HTTP\nHTTP/1.1 301 Moved Permanently\nLocation: https://www.example.org/\n\n" +
    "HTTP CONNECT ------------------------------------------------- HTTPS\nHTTP/1.1 200 OK\nContent-Type: text/html\n\n",
);
