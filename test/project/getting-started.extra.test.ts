import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { endChild } from "../support/child.ts";
import { codeBlocks } from "../support/code-blocks.ts";
import { COMMAND } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { closedPort } from "../support/fault-server.ts";

const PAGE = readFileSync("docs/getting-started.md", "utf8");

/** A folder in which `appliance-exporter` is the program that was built, and a way to type in it. */
async function newcomer() {
  const folder = await mkdtemp(join(tmpdir(), "appliance-exporter-newcomer-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const program = join(folder, "appliance-exporter");
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`);
  await chmod(program, 0o755);
  const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, NO_COLOR: "1" };
  const start = (script: string) => {
    const child = spawn("bash", ["-ec", script], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    onTestFinished(() => endChild(child));
    return child;
  };
  const type = async (script: string) => {
    const child = start(script);
    const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
    return { out, err };
  };
  return { folder, start, type };
}

test(
  "what the page has newcomers without appliances type works, up to the first gauge",
  { timeout: 120_000 },
  async () => {
    const { folder, start, type } = await newcomer();
    const [port, own] = [await closedPort(), await closedPort()];
    const appliance = codeBlocks(PAGE, "yaml").find((block) => block.includes("source: static")) ?? "";
    // Nobody knows whether the website of the page answers from here: that of the test does not.
    const site = `127.0.0.1, http_port: ${await closedPort()}`;
    await writeFile(
      join(folder, "waf-1.yaml"),
      appliance.replace("4849", String(port)).replace("www.example.org", site),
    );
    const typed = codeBlocks(PAGE, "sh").find((block) => block.includes("openssl")) ?? "";
    start(typed.replace(/^appliance-exporter/m, "exec appliance-exporter"));
    const init = `appliance-exporter init . waf-1=127.0.0.1:${port} --username=monitor --password-file=password --yes`;
    // It checks, too, and the website does not answer.
    await eventually(async () => expect((await type(init)).out).toContain("Written:"));
    start(`exec appliance-exporter run --web.listen-address=127.0.0.1:${own}`);
    await eventually(async () => {
      const metrics = await (await fetch(`http://127.0.0.1:${own}/metrics`)).text();
      expect(metrics).toMatch(/^vrrp_is_master\{appliance="waf-1",.*\} 1$/m);
    });
    // The website is listed a little later.
    await eventually(async () => {
      const { out } = await type(`appliance-exporter status --url=127.0.0.1:${own}`);
      expect(out).toMatch(/^waf-1 .* shop/m);
    });
  },
);
