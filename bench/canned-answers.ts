/** What the appliances of the bench answer: the text of a VRRP list of two interfaces, and of a website test. */
export function answers(): { readonly list: string; readonly test: string } {
  return { list: JSON.stringify(LIST), test: JSON.stringify(TEST) };
}

const TEST =
  "HTTP CONNECT ------------------------------------------------- HTTP\nHTTP/1.1 301 Moved Permanently\nLocation: https://www.example.org/\n\n" +
  "HTTP CONNECT ------------------------------------------------- HTTPS\nHTTP/1.1 200 OK\nContent-Type: text/html\n\n";

const LIST = { carp0: vrrpDetails("2", "192.0.2.100"), carp1: vrrpDetails("3", "192.0.2.101") };

function vrrpDetails(vhid: string, vip: string): Record<string, unknown> {
  const fixed = { advskew: "50", alias: [], carppeer: "224.0.0.18", if: "eth1", netmask: "255.255.255.0" };
  return { ...fixed, priority: "204", state_current: "MASTER", type: "1", vhid, vip };
}
