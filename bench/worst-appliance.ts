import { createServer } from "node:http";

/**
 * The program is an appliance that exhausts every limit of the exporter: 1,024 VIPs that flap, 256 of them with the same 15 aliases, and
 * 200 websites that go up and down, each behind 900 servers with long names, of which others fail at each poll. The argument is its port on
 * 127.0.0.1.
 */
const port = Number(process.argv[2]);
const INTERFACES = 1024;
const WEBSITES = 200;
const SERVERS = 900;
const ADDRESSES = 64;

const vips = Array.from({ length: INTERFACES }, (_, nth) => `2001:db8::${(nth + 1).toString(16)}`);
const shared = vips.slice(0, 15).map((vip) => `${vip}:0`);

function vrrpList(turn: number): string {
  const members = vips.map((vip, nth) => {
    const state_current = (turn + nth + port) % 2 === 0 ? "MASTER" : "BACKUP";
    const alias = nth < 256 ? shared : [];
    const member = { vhid: nth % 256, vip, alias, state_current, priority: 204, advskew: 50 };
    return [`carp${nth}`, member] as const;
  });
  return JSON.stringify(Object.fromEntries(members));
}

function details(id: number, turn: number): string {
  const rhost = Array.from({ length: SERVERS }, (_, nth) => {
    return ["http", `${nth}`.padStart(220, "x"), "80", "1", `${(nth + turn) % 2}`, "443"];
  });
  const vhost = { as: "", name: `${id}.example`, port: "443", port2: "80", proto: "both" };
  const bind = Array.from(
    { length: ADDRESSES },
    (_, nth) => shared[nth] ?? vips[(id + nth * 7) % INTERFACES],
  );
  return JSON.stringify({ bind, id, mode: `${turn % 2}`, name: `site ${id}`, rhost, status: "1", vhost });
}

function websiteTest(turn: number): string {
  const status = turn % 2 === 0 ? "200 OK" : "503 Service Unavailable";
  return JSON.stringify(
    ["HTTP", "HTTPS"].map((each) => `HTTP CONNECT ----- ${each}\nHTTP/1.1 ${status}\n\n`).join(""),
  );
}

const answers = {
  lists: [0, 1].map(vrrpList),
  websites: JSON.stringify(Array.from({ length: WEBSITES }, (_, nth) => String(nth + 1))),
  details: Array.from({ length: WEBSITES }, (_, nth) => [0, 1].map((turn) => details(nth + 1, turn))),
  tests: [0, 1].map(websiteTest),
};
const turns = new Map<string, number>();

createServer((request, response) => {
  const path = request.url ?? "";
  const turn = ((turns.get(path) ?? 0) + 1) % 2;
  turns.set(path, turn);
  const [, id, isTest] = /website\/(\d+)(\/test)?$/.exec(path) ?? [];
  if (path.endsWith("/virtual")) response.end(answers.lists[turn]);
  else if (id === undefined) response.end(answers.websites);
  else response.end(isTest === undefined ? answers.details[Number(id) - 1]?.[turn] : answers.tests[turn]);
}).listen(port, "127.0.0.1", () => process.send?.("listening"));
