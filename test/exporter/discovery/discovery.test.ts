import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { fleetDocumentSchema } from "../../../src/exporter/document/schema.ts";
import { eventually } from "../../support/eventually.ts";
import type { ExporterUnderTest } from "../../support/exporter.ts";
import { detailsOf, startDiscovering, startSimulated } from "./appliance.ts";

// Rounds of lists and details, which are polled each second.
vi.setConfig({ testTimeout: 40_000 });

/** The series of these families without the labels of the appliance. */
async function linesOf(
  exporter: ExporterUnderTest,
  appliance: string,
  family: string,
): Promise<readonly string[]> {
  const lines = (await exporter.scrape()).linesOf(appliance, family);
  return lines.map((line) => line.replace(`appliance="${appliance}",ha_cluster="ams",`, ""));
}

/** What is wrong, in words. */
async function problemsOf(exporter: ExporterUnderTest): Promise<readonly string[]> {
  const document = fleetDocumentSchema.parse(await (await fetch(`${exporter.url}/api/v1/fleet`)).json());
  return document.problems.map(({ summary }) => summary);
}

async function linesBecome(
  exporter: ExporterUnderTest,
  appliance: string,
  family: string,
  expected: readonly string[],
): Promise<void> {
  await eventually(async () => expect(await linesOf(exporter, appliance, family)).toEqual(expected));
}

test.concurrent("a website is tested once its details are known, with the name and protocol that they give", async (running) => {
  const a = await startSimulated(running, { 7: detailsOf("shop"), 3: detailsOf("blog") });
  const exporter = await startDiscovering(running, { a });
  await linesBecome(exporter, "a", "website_up", [
    'website_up{website_id="3",website="blog",protocol="http"} 1',
    'website_up{website_id="7",website="shop",protocol="http"} 1',
  ]);
  expect(await linesOf(exporter, "a", "website_info")).toEqual([
    'website_info{website_id="3",website="blog",host="blog.example",port="80",protocol="http",mode="protect"} 1',
    'website_info{website_id="7",website="shop",host="shop.example",port="80",protocol="http",mode="protect"} 1',
  ]);
  expect(await linesOf(exporter, "a", "website_backend_ok")).toEqual([
    'website_backend_ok{website_id="3",website="blog",address="blog.example:80",backend="192.0.2.81:8080",role="active"} 1',
    'website_backend_ok{website_id="7",website="shop",address="shop.example:80",backend="192.0.2.81:8080",role="active"} 1',
  ]);
  const [first] = a.requests;
  expect(first).toBe("GET /api/v1/interface/virtual");
  const begun = ["", "/7", "/7/test"].map((path) => a.requests.indexOf(`GET /api/v1/website${path}`));
  expect(begun).toEqual(begun.toSorted((one, other) => one - other));
});

test.concurrent("nothing is requested but the VRRP list, the list of websites, their details and their tests", async (running) => {
  const a = await startSimulated(running, { 1: detailsOf("shop") });
  a.list = { status: 200, body: '["1","../appliance","1/denylog","appliance/syncsettings","0"]' };
  const exporter = await startDiscovering(running, { a }, { websites: [9] });
  await eventually(async () => {
    expect((await exporter.scrape()).value("appliance_api_anomalies", { anomaly: "bad_website" })).toBe(4);
    expect(a.requests).toContain("GET /api/v1/website/1/test");
    expect(a.requests).toContain("GET /api/v1/website/9/test");
  });
  expect([...new Set(a.requests)].toSorted()).toEqual([
    "GET /api/v1/interface/virtual",
    "GET /api/v1/website",
    "GET /api/v1/website/1",
    "GET /api/v1/website/1/test",
    "GET /api/v1/website/9/test",
  ]);
});

test.concurrent("a configured website keeps its name, and a disabled or excluded one is not tested", async (running) => {
  const a = await startSimulated(running, {
    1: detailsOf("one"),
    2: detailsOf("two", { status: "0" }),
    3: detailsOf("three", { status: "0" }),
    4: detailsOf("four"),
  });
  const websites = [{ id: 1, name: "shop", expect_status: [500] }, 3];
  const exporter = await startDiscovering(running, { a }, { websites, website_discovery: { exclude: [4] } });
  await linesBecome(exporter, "a", "website_up", [
    'website_up{website_id="1",website="shop",protocol="http"} 0',
    'website_up{website_id="3",website="three",protocol="http"} 1',
  ]);
  await linesBecome(exporter, "a", "website_enabled", [
    'website_enabled{website_id="1",website="shop"} 1',
    'website_enabled{website_id="3",website="three"} 0',
    'website_enabled{website_id="2",website="two"} 0',
  ]);
  expect(a.requests).not.toContain("GET /api/v1/website/4");
});

test.concurrent("a website that a good list lacks is gone at once, and a list that fails keeps what it last had", async (running) => {
  const a = await startSimulated(running, { 1: detailsOf("shop"), 2: detailsOf("blog") });
  const exporter = await startDiscovering(running, { a });
  await linesBecome(exporter, "a", "website_enabled", [
    'website_enabled{website_id="1",website="shop"} 1',
    'website_enabled{website_id="2",website="blog"} 1',
  ]);
  a.list = { status: 200, body: "<html>Please log in</html>" };
  await linesBecome(exporter, "a", "appliance_poll_failure_info", [
    'appliance_poll_failure_info{operation="website_list",reason="decode"} 1',
  ]);
  await linesBecome(exporter, "a", "website_up", [
    'website_up{website_id="1",website="shop",protocol="http"} 1',
    'website_up{website_id="2",website="blog",protocol="http"} 1',
  ]);
  a.list = { status: 200, body: '["2"]' };
  await eventually(async () => {
    const samples = await exporter.scrape();
    expect(samples.text.split("\n").filter((line) => line.includes('website="shop"'))).toEqual([]);
    expect(samples.value("website_up", { website: "blog" })).toBe(1);
  });
});

test.concurrent("details that cannot be read hide what is made of them, and the website is tested on", async (running) => {
  const a = await startSimulated(running, { 1: detailsOf("shop") });
  const exporter = await startDiscovering(running, { a });
  await linesBecome(exporter, "a", "website_enabled", ['website_enabled{website_id="1",website="shop"} 1']);
  a.details.set(1, "<html>Please log in</html>");
  await linesBecome(exporter, "a", "website_enabled", []);
  expect(await linesOf(exporter, "a", "appliance_poll_failure_info")).toEqual([
    'appliance_poll_failure_info{operation="website_details",reason="decode"} 1',
  ]);
  await linesBecome(exporter, "a", "website_up", [
    'website_up{website_id="1",website="shop",protocol="http"} 1',
  ]);
});

test.concurrent("an id that another website takes over starts its counters anew", async (running) => {
  const a = await startSimulated(running, { 1: detailsOf("shop") });
  const exporter = await startDiscovering(running, { a });
  await linesBecome(exporter, "a", "website_up", [
    'website_up{website_id="1",website="shop",protocol="http"} 1',
  ]);
  a.status = 500;
  await linesBecome(exporter, "a", "website_status_changes_total", [
    'website_status_changes_total{website_id="1",website="shop",protocol="http"} 1',
  ]);
  a.details.set(1, detailsOf("blog"));
  await linesBecome(exporter, "a", "website_status_changes_total", [
    'website_status_changes_total{website_id="1",website="blog",protocol="http"} 0',
  ]);
  expect((await exporter.scrape()).value("website_up")).toBe(0);
});

test.concurrent("firmware without the list is reported once, is no failure of the appliance, and is tried again hourly", async (running) => {
  const a = await startSimulated(running, { 1: detailsOf("shop") });
  a.list = { status: 404, body: "{}" };
  const exporter = await startDiscovering(running, { a }, { websites: [1] });
  await linesBecome(exporter, "a", "appliance_poll_failure_info", [
    'appliance_poll_failure_info{operation="website_list",reason="unsupported"} 1',
  ]);
  expect(await problemsOf(exporter)).toEqual([]);
  exporter.leap(30 * 60_000);
  await linesBecome(exporter, "a", "website_up", [
    'website_up{website_id="1",website="1",protocol="http"} 1',
  ]);
  const lists = (): number => a.requests.filter((request) => request === "GET /api/v1/website").length;
  expect(lists()).toBe(1);
  const lines = exporter.log.lines.filter(({ reason }) => reason === "unsupported");
  expect(lines.map(({ level, msg, operation }) => ({ level, msg, operation }))).toEqual([
    { level: "info", msg: "polling fails", operation: "website_list" },
  ]);
  exporter.leap(31 * 60_000);
  await eventually(() => expect(lists()).toBe(2));
  a.list = undefined;
  await exporter.reload();
  await linesBecome(exporter, "a", "website_enabled", ['website_enabled{website_id="1",website="shop"} 1']);
});

test.concurrent("refused credentials end a round: no request for each id", async (running) => {
  const a = await startSimulated(running, {
    1: detailsOf("shop"),
    2: detailsOf("blog"),
    3: detailsOf("news"),
  });
  a.list = { status: 403, body: "{}" };
  const exporter = await startDiscovering(running, { a });
  await linesBecome(exporter, "a", "appliance_poll_failure_info", [
    'appliance_poll_failure_info{operation="website_list",reason="auth"} 1',
  ]);
  expect(a.requests.filter((request) => request.startsWith("GET /api/v1/website/"))).toEqual([]);
  expect((await exporter.scrape()).value("appliance_up")).toBe(1);
});

test.concurrent("of more websites than the limit the first ones are tested, and a problem says how many are not", async (running) => {
  const ids = Array.from({ length: 30 }, (_, nth) => [nth + 1, detailsOf(`site-${nth + 1}`)] as const);
  const a = await startSimulated(running, Object.fromEntries(ids));
  const exporter = await startDiscovering(running, { a }, { website_discovery: { limit: 20 } });
  await eventually(async () => {
    const samples = await exporter.scrape();
    expect(samples.all("website_enabled")).toHaveLength(20);
    expect(samples.value("website_enabled", { website_id: "20" })).toBe(1);
  });
  expect(await problemsOf(exporter)).toContain(
    "10 websites of a beyond the limit of website discovery: not tested",
  );
});

test.concurrent("websites of a cluster are joined by host and port, whatever their ids are", async (running) => {
  const a = await startSimulated(running, { 1: detailsOf("shop"), 2: detailsOf("blog") });
  const b = await startSimulated(running, { 1: detailsOf("blog"), 9: detailsOf("shop", { mode: "0" }) });
  b.state = "BACKUP";
  b.status = 500;
  const exporter = await startDiscovering(running, { a, b });
  await eventually(async () => {
    const samples = await exporter.scrape();
    const present = samples.all("website_state").filter(({ value }) => value === 1);
    const shared = { ha_cluster: "ams", protocol: "http", state: "partially_down" };
    expect(present.map(({ labels }) => labels)).toEqual([
      { ...shared, website_id: "1", website: "shop", address: "shop.example:80" },
      { ...shared, website_id: "2", website: "blog", address: "blog.example:80" },
    ]);
    const statuses = samples.all("website_http_status");
    expect(statuses.map(({ labels, value }) => [labels["address"], labels["appliance"], value])).toEqual([
      ["shop.example:80", "a", 200],
      ["blog.example:80", "a", 200],
      ["blog.example:80", "b", 500],
      ["shop.example:80", "b", 500],
    ]);
  });
  const risksBecome = (...expected: readonly string[]) =>
    eventually(async () => {
      const risks = (await exporter.scrape()).all("failover_risk_info").map(({ labels }) => labels);
      const words = risks.map(({ risk, effect, successor, subject }) =>
        [risk, effect, successor, subject].join(" "),
      );
      expect(words).toEqual([...expected, "same_priority none b 192.0.2.100"]);
    });
  await risksBecome(
    "website_down loss b shop http",
    "website_down loss b blog http",
    "website_less_protected loss b shop",
  );
  b.details.delete(9);
  await risksBecome("website_down loss b blog http", "website_missing loss b shop");
  expect(await problemsOf(exporter)).toContain("If a fails, blog http is lost: 500 and shop is missing at b");
  b.list = { status: 200, body: "null" };
  await risksBecome("website_down loss b blog http", "website_unknown uncertain b all");
  expect(await problemsOf(exporter)).toContain(
    "The websites of b cannot be listed: its answer cannot be decoded (decode)",
  );
});

test.concurrent("servers behind a website that are gone are judged by the master", async (running) => {
  const down = detailsOf("shop", { rhost: [["http", "192.0.2.81", "80", "1", "0", "443"]] });
  const a = await startSimulated(running, { 1: detailsOf("shop") });
  const b = await startSimulated(running, { 1: down });
  b.state = "BACKUP";
  const exporter = await startDiscovering(running, { a, b });
  const stateBecomes = (state: string) =>
    eventually(async () =>
      expect((await exporter.scrape()).value("website_backends_state", { state })).toBe(1),
    );
  await stateBecomes("some_down");
  a.details.set(1, down);
  await stateBecomes("none_usable_but_up");
  a.status = 503;
  b.status = 503;
  await stateBecomes("none_usable");
  expect(await problemsOf(exporter)).toContain(
    "No server behind shop is usable: 192.0.2.81:80 at a, 192.0.2.81:80 at b",
  );
  expect(await linesOf(exporter, "a", "website_usable_backends")).toEqual([
    'website_usable_backends{website_id="1",website="shop"} 0',
  ]);
});

async function targetsOf({ url }: ExporterUnderTest): Promise<readonly string[]> {
  const groups: readonly { readonly targets: readonly string[] }[] = JSON.parse(
    await (await fetch(`${url}/sd/websites`)).text(),
  );
  return groups.flatMap((group) => group.targets);
}

test.concurrent("websites whose hosts two members spell otherwise are one each, with one URL, and nothing is missing", async (running) => {
  const hosts = [
    ["m\u00FCnchen.example.org", "xn--mnchen-3ya.example.org"],
    ["[2001:DB8::6]", "2001:db8:0:0:0:0:0:6"],
    ["\u0939\u093F\u0928\u094D\u0926\u0940\u3002example", "XN--J2BD4CYAH0F.Example"],
    ["192.0.2.6", "[192.0.2.6]"],
  ] as const;
  const detailsAt = (member: 0 | 1) =>
    Object.fromEntries(
      hosts.map(({ [member]: name }, nth) => [
        nth + 1,
        detailsOf(`site${nth}`, { vhost: { name, port: "443", port2: "", proto: "https" } }),
      ]),
    );
  const [a, b] = [await startSimulated(running, detailsAt(0)), await startSimulated(running, detailsAt(1))];
  b.state = "BACKUP";
  const exporter = await startDiscovering(running, { a, b });
  await eventually(async () => {
    expect((await targetsOf(exporter)).filter((url) => !url.includes("192.0.2.100"))).toEqual([
      "https://xn--mnchen-3ya.example.org/",
      "https://[2001:db8::6]/",
      "https://xn--j2bd4cyah0f.example/",
      "https://192.0.2.6/",
    ]);
  });
  const scraped = (await exporter.scrape()).text;
  const addresses = Array.from(
    scraped.matchAll(/^website_backends_state\{.*address="([^"]*)".*state="ok"\} 1$/gm),
  );
  expect(addresses.map(([, address]) => address)).toEqual([
    "xn--mnchen-3ya.example.org:443",
    "[2001:db8::6]:443",
    "xn--j2bd4cyah0f.example:443",
    "192.0.2.6:443",
  ]);
  expect(await problemsOf(exporter)).not.toContainEqual(expect.stringContaining("missing"));
});

/** The details of a website without a name. */
function namelessAt(name: string): unknown {
  return detailsOf("", { vhost: { name, port: "80", port2: "", proto: "http" } });
}

test.concurrent("the counters of an id go on when its appliance spells the host of its website otherwise", async (running) => {
  const a = await startSimulated(running, { 1: namelessAt("m\u00FCnchen.example") });
  const exporter = await startDiscovering(running, { a });
  await linesBecome(exporter, "a", "website_up", [
    'website_up{website_id="1",website="m\u00FCnchen.example",protocol="http"} 1',
  ]);
  a.status = 500;
  await linesBecome(exporter, "a", "website_status_changes_total", [
    'website_status_changes_total{website_id="1",website="m\u00FCnchen.example",protocol="http"} 1',
  ]);
  a.details.set(1, namelessAt("xn--mnchen-3ya.example"));
  await linesBecome(exporter, "a", "website_status_changes_total", [
    'website_status_changes_total{website_id="1",website="xn--mnchen-3ya.example",protocol="http"} 1',
  ]);
  expect((await exporter.scrape()).value("website_up")).toBe(0);
});

test.concurrent("other ports and private hosts become targets when a reload allows them", async (running) => {
  const vhost = { name: "shop.internal", port: "8443", port2: "", proto: "https" };
  const [a, b] = [
    await startSimulated(running, { 1: detailsOf("shop", { vhost }) }),
    await startSimulated(running, { 1: detailsOf("shop", { vhost }) }),
  ];
  const exporter = await startDiscovering(running, { a, b });
  const targets = async () => {
    const response = await fetch(`${exporter.url}/sd/websites`);
    return [response.status, response.headers.get("x-targets-left-out"), (await response.text()).trim()];
  };
  await eventually(async () => {
    expect(await targets()).toEqual([200, "limit=0, address=0, port=2, private=0", "[]"]);
  });
  const leftOut = { reason: "port" };
  expect((await exporter.scrape()).value("appliance_exporter_website_targets_left_out", leftOut)).toBe(2);
  const config: unknown = JSON.parse(await readFile(join(exporter.folder, "config.yaml"), "utf8"));
  const allowed = { website_targets: { ports: [8443], private: true } };
  await exporter.write("config.yaml", JSON.stringify(Object.assign({}, config, allowed)));
  expect(await exporter.reload()).toBe(true);
  const [status, header, text] = await targets();
  expect([status, header]).toEqual([200, "limit=0, address=0, port=0, private=0"]);
  expect(text).toContain("https://shop.internal:8443/");
  expect(text).toContain("https://192.0.2.100:8443/");
});
