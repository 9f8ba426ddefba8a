import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/program/program.ts";
import { AUTHORITY, listen, startAppliance, websiteOf } from "../../appliance/support.ts";
import { createFolder } from "../config/folder.ts";
import { createTestIo } from "../../support/io.ts";

/** A command about a reference appliance whose website is discovered; without its port. */
async function run(hasWebsiteList: boolean, ...argv: readonly string[]) {
  const port = await listen(createServer((_, response) => response.end()));
  const server = { protocol: "http", host: "127.0.0.1", port, role: "active" } as const;
  const websites = [websiteOf({ id: 7, name: "shop", protocol: "http", httpPort: port, servers: [server] })];
  const appliance = await startAppliance({ websites, hasWebsiteList });
  const folder = await createFolder({
    "ca.pem": AUTHORITY.cert,
    "config.yaml": `
http_client:
  basic_auth: { username: monitor, password: "pass:word" }
  tls_config: { ca_file: ca.pem }
website_discovery: true
appliances: [{ name: fw-a, base_url: "https://127.0.0.1:${appliance.port}" }]
`,
  });
  const { io, printed } = await createTestIo();
  const code = await runProgram([...argv, `--config.file=${join(folder, "config.yaml")}`], io);
  const lines = printed.out.replaceAll(String(port), "PORT").split("\n");
  return { code, lines: lines.map((line) => line.replace(/\d\.\d{3} s/, "TIME").replaceAll(/ {2,}/g, " ")) };
}

test.each([
  ["check", "--live"],
  ["poll", "fw-a"],
])("%s %s shows what is discovered", async (...argv) => {
  const { code, lines } = await run(true, ...argv);
  expect(code).toBe(0);
  expect(lines.filter((line) => / TIME /.test(line))).toEqual([
    "fw-a vrrp ok TIME 0 interfaces",
    "fw-a website_list ok TIME 1 website",
    "fw-a website_details/7 ok TIME shop, http 127.0.0.1:PORT, protect, 127.0.0.1:PORT ok",
    "fw-a website_test/7 ok TIME http 200",
  ]);
});

test("poll shows what becomes of the details of a website", async () => {
  const { lines } = await run(true, "poll", "fw-a");
  expect(lines).toContain(
    'website_info{appliance="fw-a",ha_cluster="fw-a",website_id="7",website="shop",host="127.0.0.1",port="PORT",protocol="http",mode="protect"} 1',
  );
});

test("an appliance that lacks the details of its websites is no failure", async () => {
  const answers: Readonly<Record<string, string>> = {
    "/api/v1/interface/virtual": "{}",
    "/api/v1/website": '["7"]',
    "/api/v1/website/7/test": '"HTTP CONNECT\\n-----\\nHTTP/1.1 200 OK\\n"',
  };
  const port = await listen(
    createServer(({ url = "" }, response) => {
      const body = answers[url];
      response.writeHead(body === undefined ? 404 : 200).end(body ?? "{}");
    }),
  );
  const appliance = `{ name: fw-a, base_url: "http://127.0.0.1:${port}", allow_http: true, website_discovery: true }`;
  const folder = await createFolder({ "config.yaml": `appliances: [${appliance}]` });
  const { io, printed } = await createTestIo();
  expect(await runProgram(["check", "--live", `--config.file=${join(folder, "config.yaml")}`], io)).toBe(0);
  expect(printed.out).toMatch(/website_details\/7 +unsupported/);
});

test("an appliance that lacks the list of websites is no failure", async () => {
  const { code, lines } = await run(false, "check", "--live");
  expect(code).toBe(0);
  expect(lines.find((line) => line.includes("website_list"))).toMatch(/^fw-a website_list unsupported /);
});
