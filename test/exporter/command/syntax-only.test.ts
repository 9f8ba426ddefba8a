import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/program/program.ts";
import { createTestIo } from "../../support/io.ts";
import { createFolder } from "../config/folder.ts";

async function check(config: string, ...flags: readonly string[]) {
  const { io, printed } = await createTestIo();
  const code = await runProgram(["check", `--config.file=${config}`, ...flags], io);
  return { code, ...printed };
}

const ELSEWHERE = `
http_client:
  basic_auth: { username: monitor, password_file: secrets/monitor }
  tls_config: { ca_file: ca.pem, cert_file: client.pem, key_file: client.key }
clusters:
  - name: ams
    http_client: { tls_config: { known_certificates_file: /nowhere/known } }
    appliances:
      - { name: waf-1, base_url: "https://192.0.2.11:4849" }
      - { name: waf-2, base_url: "https://192.0.2.12:4849" }
config_files: ["conf.d/*.yaml"]
`;
const WEB = `
tls_server_config:
  cert_file: server.pem
  key_file: server.key
  client_ca_file: ca.pem
  client_auth_type: RequireAndVerifyClientCert
`;

test("check --syntax-only reads no file that the configurations name", async () => {
  const folder = await createFolder({ "config.yaml": ELSEWHERE, "web.yaml": WEB });
  const file = join(folder, "config.yaml");
  const web = `--web.config.file=${join(folder, "web.yaml")}`;
  const whole = await check(file, web);
  expect([whole.code, whole.err.split("\n").length]).toEqual([1, 2]);
  expect(await check(file, web, "--syntax-only")).toEqual({
    code: 0,
    out: `${file}: valid, appliances: 2 enabled, 0 disabled\n`,
    err: "",
  });
});

test("check --syntax-only finds what is wrong in the files themselves, and in those of config_files that are there", async () => {
  const folder = await createFolder({
    "config.yaml": ELSEWHERE.replace("ca_file: ca.pem", "ca_fil: ca.pem"),
    "conf.d/a.yaml": "appliance: []",
  });
  const { code, err } = await check(join(folder, "config.yaml"), "--syntax-only");
  expect(code).toBe(1);
  expect(err.replaceAll(`${folder}/`, "").trimEnd().split("\n")).toEqual([
    'config.yaml:4:17: http_client.tls_config: unknown key "ca_fil"; did you mean "ca_file"?',
    'conf.d/a.yaml:1:1: unknown key "appliance"; did you mean "appliances"?',
  ]);
});

test("check --syntax-only is no check of appliances", async () => {
  const { code, err } = await check("config.yaml", "--syntax-only", "--live");
  expect([code, err]).toEqual([2, "error: option '--syntax-only' cannot be used with option '--live'\n"]);
});

test("check --syntax-only reads a pipe", async () => {
  const folder = await createFolder({ "config.yaml": ELSEWHERE });
  const pipe = join(folder, "pipe");
  execFileSync("mkfifo", [pipe]);
  const writing = execFileSync.bind(undefined, "sh", ["-c", `cat "$0/config.yaml" >"$0/pipe" &`, folder]);
  writing({ stdio: "ignore" });
  expect(await check(pipe, "--syntax-only")).toMatchObject({ code: 0 });
});
