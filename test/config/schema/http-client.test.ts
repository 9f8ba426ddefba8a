import { expect, test } from "vitest";
import { errorsOf } from "../folder.ts";

const client = (block: string) => `http_client: { ${block} }\nclusters: []\n`;

test.each([
  [
    "basic_auth: { username: u }",
    "1:16: http_client.basic_auth: expected either password or password_file, got none",
  ],
  [
    "basic_auth: { username: u, password: p, password_file: p }",
    "1:56: http_client.basic_auth.password_file: expected either password or password_file, got both",
  ],
  ["basic_auth: { password: hunter2 }", "1:28: http_client.basic_auth.username: required key is missing"],
  [
    'basic_auth: { username: "", password: p }',
    "1:30: http_client.basic_auth.username: expected a user name that is not empty and has no colon and no control character",
  ],
  [
    'basic_auth: { username: "u:hunter2", password: p }',
    "1:30: http_client.basic_auth.username: expected a user name that is not empty and has no colon and no control character",
  ],
  [
    'basic_auth: { username: u, password: "" }',
    "1:43: http_client.basic_auth.password: expected a password that is not empty and has no control character",
  ],
  [
    "basic_auth: { username: u, password: 12345 }",
    "1:43: http_client.basic_auth.password: expected a text, got a number; put it in quotes",
  ],
  [
    'basic_auth: { username: u, password_file: "" }',
    "1:43: http_client.basic_auth.password_file: expected the path of a file",
  ],
  [
    "proxy_url: https://h",
    "1:16: http_client.proxy_url: expected a URL of the form http://[user:password@]host:port",
  ],
  [
    "proxy_url: http://u:hunter2@h/path",
    "1:16: http_client.proxy_url: expected a URL of the form http://[user:password@]host:port",
  ],
  [
    "proxy_url: http://u:%hunter2@h",
    "1:16: http_client.proxy_url: expected a URL of the form http://[user:password@]host:port",
  ],
  ["proxy_url: [hunter2]", "1:16: http_client.proxy_url: expected a text, got a list"],
  [
    "tls_config: { min_version: TLSv1.2 }",
    '1:30: http_client.tls_config.min_version: expected TLS10, TLS11, TLS12 or TLS13, got "TLSv1.2"',
  ],
  ['tls_config: { server_name: "a b" }', "1:30: http_client.tls_config.server_name: expected a host name"],
  [
    "tls_config: { insecure_skip_verify: 1 }",
    "1:30: http_client.tls_config.insecure_skip_verify: expected true or false, got a number",
  ],
  [
    "tls_config: { certificate_sha256: [ab:cd] }",
    "1:51: http_client.tls_config.certificate_sha256[0]: expected a SHA-256 fingerprint of 64 hexadecimal digits",
  ],
  [
    "tls_config: { certificate_sha256: abcd }",
    "1:30: http_client.tls_config.certificate_sha256: expected a list, got a text",
  ],
])("%s: %s", async (block, error) => {
  const errors = await errorsOf({ "config.yaml": client(block), p: "hunter2" });
  expect(errors).toEqual([`config.yaml:${error}`]);
});
