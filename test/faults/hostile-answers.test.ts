import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startTestExporter, type ExporterUnderTest } from "../support/exporter.ts";
import type { Behaviour } from "../support/fault-server.ts";
import { pollTimes, RARELY } from "../support/poll-times.ts";
import type { Samples } from "../support/samples.ts";
import { answer, answers, closesIdle, healthy, LIST, says } from "./behaviours.ts";
import { createWorld, http, https, type Endpoint, type OpenEndpoint } from "./endpoints.ts";

/** A hostile answer, or a hostile way of giving it, that costs no more than the values it spoils. */
interface HostileAnswer {
  readonly fault: number;
  readonly name: string;
  readonly open: OpenEndpoint;
  /** Ids of the websites that are tested. */
  readonly websites?: readonly number[];
  /** The families that this is about, by the beginning of their names; default: `vrrp_is_master`. */
  readonly families?: readonly string[];
  /** All lines of these families, less the appliance's labels; default: `carp0` is MASTER. */
  readonly lines?: readonly string[];
}

const interfaceOf = (fields: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> => ({
  vhid: "2",
  vip: "192.0.2.100",
  state_current: "MASTER",
  priority: "204",
  advskew: "50",
  alias: [],
  ...fields,
});
const list = (members: Readonly<Record<string, unknown>>): string => JSON.stringify(members);
const lists = (members: Readonly<Record<string, unknown>>): OpenEndpoint => http(answers(list(members)));

/** The list, and one text for every website test. */
function tests(text: string): Behaviour {
  return ({ socket, onRequest }) =>
    onRequest(({ path }) => socket.write(answer(path.endsWith("/test") ? JSON.stringify(text) : LIST)));
}

const ANOMALIES = ["unknown_state", "advskew_mismatch", "bad_interface", "bad_field"];
const anomalies = (counts: readonly number[]): readonly string[] =>
  ANOMALIES.map((anomaly, index) => `appliance_api_anomalies{anomaly="${anomaly}"} ${counts[index]}`);
const MASTER = 'vrrp_is_master{interface="carp0",vhid="2",vip="192.0.2.100"} 1';
const TALL = "x".repeat(10_000);

/** JSON text that `JSON.stringify` would not write. */
const BAD_NUMBERS = `{
  "carp0": {"vhid": 2, "vip": "192.0.2.100", "state_current": "MASTER", "priority": 1e999, "advskew": "NaN", "alias": 7},
  "carp1": {"vhid": 3, "vip": "192.0.2.101", "state_current": "BACKUP", "priority": -1, "advskew": "255", "alias": []},
  "carp2": {"vhid": 256, "vip": "192.0.2.102", "state_current": "BACKUP", "priority": "1", "advskew": "253", "alias": []}
}`;

/** Every row of the table. */
const HOSTILE_ANSWERS: readonly HostileAnswer[] = [
  { fault: 13, name: "an idle connection that is closed under us", open: http(closesIdle("end")) },
  { fault: 13, name: "an idle connection that is reset under us", open: http(closesIdle("reset")) },
  { fault: 74, name: "an idle connection that gets 408 under us", open: http(closesIdle("408")) },
  {
    fault: 76,
    name: "an unasked 100 Continue before each answer",
    open: http(says(`HTTP/1.1 100 Continue\r\n\r\n${answer(LIST)}`)),
  },
  {
    fault: 17,
    name: "numbers that are none, or out of range",
    open: http(answers(BAD_NUMBERS)),
    families: ["vrrp_is_master", "vrrp_priority", "vrrp_advskew", "vrrp_aliases", "appliance_api_anomalies"],
    lines: [
      MASTER,
      'vrrp_is_master{interface="carp1",vhid="3",vip="192.0.2.101"} 0',
      'vrrp_aliases{interface="carp1",vhid="3",vip="192.0.2.101"} 0',
      ...anomalies([0, 0, 1, 5]),
    ],
  },
  {
    fault: 17,
    name: "a website's status out of range",
    open: http(
      tests("HTTP CONNECT ----- HTTP\nHTTP/1.1 1000 Odd\n\nHTTP CONNECT ----- HTTPS\nHTTP/1.1 -1 Odd\n\n"),
    ),
    websites: [1],
    families: ["website_http_status", "website_up"],
    lines: [],
  },
  {
    fault: 18,
    name: "__proto__ keys",
    open: http(
      answers(
        `{"__proto__":${list(interfaceOf({ vhid: "1", polluted: "yes" }))},"carp0":{"__proto__":{"priority":"7"},"vhid":"2","vip":"192.0.2.100","state_current":"MASTER","advskew":"50"}}`,
      ),
    ),
    families: ["vrrp_is_master", "vrrp_priority", "appliance_api_anomalies"],
    lines: [
      'vrrp_is_master{interface="__proto__",vhid="1",vip="192.0.2.100"} 1',
      MASTER,
      'vrrp_priority{interface="__proto__",vhid="1",vip="192.0.2.100"} 204',
      ...anomalies([0, 0, 0, 1]),
    ],
  },
  {
    fault: 19,
    name: "two interfaces with one vhid and vip",
    open: lists({ carp0: interfaceOf(), carp1: interfaceOf({ state_current: "BACKUP" }) }),
    families: ["vrrp_is_master", "vrrp_transitions_total"],
    lines: [
      MASTER,
      'vrrp_is_master{interface="carp1",vhid="2",vip="192.0.2.100"} 0',
      'vrrp_transitions_total{interface="carp0",vhid="2",vip="192.0.2.100"} 0',
      'vrrp_transitions_total{interface="carp1",vhid="2",vip="192.0.2.100"} 0',
    ],
  },
  {
    fault: 20,
    name: "names with quotes, backslashes, line breaks and NUL",
    open: lists({ 'a"} 1\nvrrp_is_master{x="': interfaceOf(), "b\\": interfaceOf(), "c\0\r": interfaceOf() }),
    lines: [
      String.raw`vrrp_is_master{interface="a\"} 1\nvrrp_is_master{x=\"",vhid="2",vip="192.0.2.100"} 1`,
      String.raw`vrrp_is_master{interface="b\\",vhid="2",vip="192.0.2.100"} 1`,
      'vrrp_is_master{interface="c\0\r",vhid="2",vip="192.0.2.100"} 1',
    ],
  },
  {
    fault: 20,
    name: "names of 10 kB, of lone surrogates and of U+FFFD that differ in their last character",
    open: lists(
      Object.fromEntries(
        [`${TALL}1`, `${TALL}2`, "s\ud800", "s\ud801", "s\ufffd", "s?"].map((name) => [name, interfaceOf()]),
      ),
    ),
    lines: [
      `vrrp_is_master{interface="${"x".repeat(256)}~e6a92cc014a617d2",vhid="2",vip="192.0.2.100"} 1`,
      `vrrp_is_master{interface="${"x".repeat(256)}~fcb84a503a06ceb7",vhid="2",vip="192.0.2.100"} 1`,
      'vrrp_is_master{interface="s?~89b411f98abcc531",vhid="2",vip="192.0.2.100"} 1',
      'vrrp_is_master{interface="s?~da9c1f5653b04c39",vhid="2",vip="192.0.2.100"} 1',
      'vrrp_is_master{interface="s?~e61a6af9eea1dcc6",vhid="2",vip="192.0.2.100"} 1',
      'vrrp_is_master{interface="s?",vhid="2",vip="192.0.2.100"} 1',
    ],
  },
  {
    fault: 44,
    name: "the name of a device of 250 kB, which is cut",
    open: lists({ carp0: interfaceOf({ if: "y".repeat(250_000) }) }),
    families: ["vrrp_is_master", "vrrp_interface_info"],
    lines: [
      MASTER,
      `vrrp_interface_info{interface="carp0",vhid="2",vip="192.0.2.100",device="${"y".repeat(256)}~d6dc693316f37ced",netmask="",peer="",configured_role=""} 1`,
    ],
  },
  {
    fault: 56,
    name: "keys that occur twice, plain and escaped",
    open: http(
      answers(
        `{"carp0":{},"carp1":{"priority":"1",${list(interfaceOf()).slice(1)},"\\u0063arp0":${list(interfaceOf())}}`,
      ),
    ),
    families: ["vrrp_is_master", "vrrp_priority", "appliance_api_anomalies"],
    lines: [
      MASTER,
      MASTER.replace("carp0", "carp1"),
      'vrrp_priority{interface="carp0",vhid="2",vip="192.0.2.100"} 204',
      'vrrp_priority{interface="carp1",vhid="2",vip="192.0.2.100"} 204',
      ...anomalies([0, 0, 0, 2]),
    ],
  },
  {
    fault: 20,
    name: "a header that looks like the block of another protocol",
    open: http(
      tests("HTTP CONNECT ----- HTTP\nHTTP/1.1 503 Down\nX-Up: HTTP CONNECT ----- HTTPS HTTP/1.1 200 OK\n\n"),
    ),
    websites: [1],
    families: ["website_http_status", "website_up"],
    lines: ['website_http_status{address="#1",protocol="http"} 503', 'website_up{protocol="http"} 0'],
  },
  {
    fault: 73,
    name: "a certificate without a subject",
    open: https(healthy, { hasSubject: false, notAfter: new Date("2099-01-01T00:00:00Z") }),
    families: ["vrrp_is_master", "appliance_tls_certificate_not_after_timestamp_seconds"],
    lines: [MASTER, "appliance_tls_certificate_not_after_timestamp_seconds{} 4070908800"],
  },
];

interface Row extends HostileAnswer {
  readonly appliance: string;
  endpoint: Endpoint | undefined;
}

/** One exporter polls the appliances of all rows. */
const rows: readonly Row[] = HOSTILE_ANSWERS.map((fault, index) => {
  return { ...fault, appliance: `row-${index}`, endpoint: undefined };
});
let exporter: ExporterUnderTest;
let samples: Samples;

beforeAll(async () => {
  const world = await createWorld();
  for (const row of rows) row.endpoint = await row.open(world);
  const appliances = rows.map(({ appliance, endpoint, websites = [] }) => {
    return { name: appliance, ...endpoint?.appliance, websites };
  });
  exporter = await startTestExporter({
    config: {
      polling: { vrrp: RARELY, websites: RARELY },
      http_client: { tls_config: { ca_file: "ca.pem" } },
      appliances,
    },
    files: { "ca.pem": world.authority.cert },
  });
  samples = await pollTimes(exporter, { appliances: rows.map(({ appliance }) => appliance), times: 3 });
});

afterAll(async () => {
  await exporter.stop();
  for (const { endpoint } of rows) await endpoint?.stop();
});

describe.each(rows.map((row) => [`fault ${row.fault}: ${row.name}`, row] as const))("%s", (_, row) => {
  const { appliance, families = ["vrrp_is_master"], lines = [MASTER] } = row;

  it("gives exactly what is true of it", () => {
    const own = new RegExp(`appliance="${appliance}",ha_cluster="${appliance}",?`);
    const found = families.flatMap((family) => samples.linesOf(appliance, family));
    expect(found.map((line) => line.replace(own, "").replace('website_id="1",website="1",', ""))).toEqual(
      lines,
    );
  });

  it("is no failure", () => {
    expect(samples.value("appliance_up", { appliance })).toBe(1);
    const failures = samples.all("appliance_poll_failures_total", { appliance });
    expect(failures.map(({ value }) => value).filter((value) => value > 0)).toEqual([]);
    expect(
      exporter.log.lines.filter((line) => line.appliance === appliance && line.msg === "polling fails"),
    ).toEqual([]);
  });
});

it("costs a new connection each time: fault 13", () => {
  const servers = rows.filter(({ fault }) => fault === 13).map(({ endpoint }) => endpoint?.server);
  expect(servers.map((server) => (server?.connections() ?? 0) >= 3)).toEqual([true, true]);
});

it("leaves the prototype of objects as it was: fault 18", () => {
  expect(Object.keys(Object.getPrototypeOf({}))).toEqual([]);
  expect("polluted" in {}).toBe(false);
});
