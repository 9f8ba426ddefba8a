import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { appliance } from "../../src/cli/appliance.ts";
import { AUTHORITY } from "../appliance/support.ts";
import { createTestIo } from "../support/io.ts";
import { useTemporaryFolder } from "../demo/support.ts";

const CONFIG = `listen: 127.0.0.1:0
tls: { cert_file: appliance.pem, key_file: appliance.key }
users: [{ username: monitor, password: secret }]
vrrp: { source: static, interfaces: {} }
`;

test("the reference appliance stops at SIGHUP: there is nothing to reload", async () => {
  const folder = await useTemporaryFolder();
  const { cert, key } = await AUTHORITY.issue();
  await writeFile(join(folder, "appliance.pem"), cert);
  await writeFile(join(folder, "appliance.key"), key);
  await writeFile(join(folder, "appliance.yaml"), CONFIG);
  const { io, printed } = await createTestIo({ onReload: (callback) => callback() });
  const options = {
    configFile: join(folder, "appliance.yaml"),
    logLevel: "info",
    logFormat: "json",
  } as const;
  expect(await appliance(options, io)).toBe(0);
  expect(printed).toEqual({ out: "", err: "" });
});
