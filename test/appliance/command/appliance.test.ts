import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/program/program.ts";
import { AUTHORITY } from "../support.ts";
import { createFolder } from "../../exporter/config/folder.ts";
import { createTestIo } from "../../support/io.ts";

const CONFIG = `listen: 127.0.0.1:0
tls: { cert_file: appliance.pem, key_file: appliance.key }
users: [{ username: monitor, password: secret }]
vrrp: { source: static, interfaces: {} }
`;

test("the reference appliance stops at SIGHUP: there is nothing to reload", async () => {
  const { cert, key } = await AUTHORITY.issue();
  const folder = await createFolder({
    "appliance.pem": cert,
    "appliance.key": key,
    "appliance.yaml": CONFIG,
  });
  const { io, printed } = await createTestIo({ onReload: (callback) => callback() });
  expect(await runProgram(["appliance", `--config.file=${join(folder, "appliance.yaml")}`], io)).toBe(0);
  expect(printed).toEqual({ out: "", err: "" });
});
