import { expect, test, vi } from "vitest";

import { parseProbe, type Probe, type ProbeParameters } from "../../src/web/probe.ts";
import { ask, routes, serve } from "./support.ts";

const parameters = (url: string, header?: string): ProbeParameters | undefined => {
  const parsed = parseProbe(url, header);
  return parsed.ok ? parsed.parameters : undefined;
};

test("a probe of everything names its target alone", () => {
  expect(parameters("/probe?target=ams")).toEqual({
    target: "ams",
    module: undefined,
    timeoutMs: Number.POSITIVE_INFINITY,
  });
});

test.each(["vrrp", "websites"] as const)("the module %s is known", (module) => {
  expect(parameters(`/probe?target=ams&module=${module}`)?.module).toBe(module);
});

test("names are decoded", () => {
  expect(parameters("/probe?target=a%26b+c")?.target).toBe("a&b c");
});

test.each([
  ["/probe", "Expected one target: /probe?target=NAME"],
  ["/probe?target=", "Expected one target: /probe?target=NAME"],
  ["/probe?module=vrrp", "Expected one target: /probe?target=NAME"],
  ["/probe?target=a&target=b", "Expected one target: /probe?target=NAME"],
  ["/probe?target=a&module=", "Unknown module; there are vrrp and websites"],
  ["/probe?target=a&module=icmp", "Unknown module; there are vrrp and websites"],
  ["/probe?target=a&module=vrrp&module=vrrp", "Unknown module; there are vrrp and websites"],
])("%s says too little", (url, message) => {
  expect(parseProbe(url, undefined)).toEqual({ ok: false, message });
});

test.each([
  ["10", 9500],
  ["2.5", 2000],
  ["1e1", 9500],
  ["1", 500],
  ["0.5", 250],
  ["0.3", 150],
  ["0", Number.POSITIVE_INFINITY],
  ["0.0", Number.POSITIVE_INFINITY],
  ["", Number.POSITIVE_INFINITY],
  ["soon", Number.POSITIVE_INFINITY],
  ["-1", Number.POSITIVE_INFINITY],
])("with a scrape timeout of %j seconds the probe has %d ms", (header, timeoutMs) => {
  expect(parameters("/probe?target=ams", header)?.timeoutMs).toBe(timeoutMs);
});

test("a probe is served as the text format, with what the request asks for", async () => {
  const probe = vi.fn<Probe>(() => Promise.resolve("probe_success 1\n"));
  const port = await serve(routes({ probe }));
  const headers = { "x-prometheus-scrape-timeout-seconds": "3" };
  const answer = await ask(port, "/probe?target=ams&module=vrrp", { headers });
  expect(answer.status).toBe(200);
  expect(answer.headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(answer.body.toString()).toBe("probe_success 1\n");
  expect(probe).toHaveBeenCalledExactlyOnceWith({ target: "ams", module: "vrrp", timeoutMs: 2500 });
});

test("an unknown name is 404, no name and an unknown module are 400, and nothing is probed for them", async () => {
  const probe = vi.fn<Probe>(() => Promise.resolve(undefined));
  const port = await serve(routes({ probe }));
  expect((await ask(port, "/probe")).status).toBe(400);
  expect((await ask(port, "/probe?target=ams&module=icmp")).status).toBe(400);
  expect(probe).not.toHaveBeenCalled();
  expect((await ask(port, "/probe?target=nobody")).status).toBe(404);
});
