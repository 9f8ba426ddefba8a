import { join } from "node:path";
import { expect, test } from "vitest";
import { runProgram } from "../../../src/cli/program.ts";
import { createTestIo } from "../../support/io.ts";
import { folderOf } from "./support.ts";

const CONFIG = "appliances: [{ name: a, enabled: false, base_url: 'https://127.0.0.1:1' }]\n";

test("an invalid web configuration is reported on stderr beside an invalid configuration, and exits 1", async () => {
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
