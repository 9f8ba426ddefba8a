import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { createAuthority } from "../../support/certificates.ts";
import { createTestIo } from "../../support/io.ts";
import { folderOf } from "./support.ts";

const CONFIG = "appliances: [{ name: a, enabled: false, base_url: 'https://127.0.0.1:1' }]\n";

test("a bad web configuration is told on stderr beside a bad configuration, and exits 1", async () => {
  const folder = await folderOf({ "config.yaml": `${CONFIG}colour: blue\n`, "web.yaml": "users: {}\n" });
  const { io, printed } = await createTestIo();
  const code = await runProgram(
    [
      `--config.file=${join(folder, "config.yaml")}`,
      `--web.config.file=${join(folder, "web.yaml")}`,
      "--web.listen-address=127.0.0.1:0",
    ],
    io,
  );
  expect({ code, ...printed }).toEqual({
    code: 1,
    out: "",
    err: `${folder}/config.yaml:2:1: unknown key "colour"\n${folder}/web.yaml:1:1: unknown key "users"\n`,
  });
});

test("a key that does not belong to its certificate is told on stderr, and exits 1", async () => {
  const authority = await createAuthority();
  const [server, other] = await Promise.all([authority.issue(), authority.issue()]);
  const folder = await folderOf({
    "config.yaml": CONFIG,
    "web.yaml": "tls_server_config: { cert_file: server.pem, key_file: other.key }\n",
    "server.pem": server.cert,
    "other.key": other.key,
  });
  const { io, printed } = await createTestIo();
  const code = await runProgram(
    [`--config.file=${join(folder, "config.yaml")}`, `--web.config.file=${join(folder, "web.yaml")}`],
    io,
  );
  expect({ code, ...printed }).toEqual({
    code: 1,
    out: "",
    err: `${folder}/web.yaml:1:45: tls_server_config.key_file: the key does not belong to the certificate in cert_file\n`,
  });
});
