import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runProgram } from "../../src/program/program.ts";
import { createFolder } from "../exporter/config/folder.ts";
import { eventually } from "../support/eventually.ts";
import { closedPort } from "../support/fault-server.ts";
import { createTestIo } from "../support/io.ts";
import { ask } from "../exporter/web/support.ts";

const EXTERNAL = "--web.external-url=https://exporter.example.org/base/";

test.each([
  { flags: [EXTERNAL], prefix: "/base", url: "https://exporter.example.org/base" },
  { flags: [EXTERNAL, "--web.route-prefix=/"], prefix: "", url: "https://exporter.example.org/base" },
  { flags: [], prefix: "", url: "" },
])(
  "with $flags, paths have the prefix '$prefix', and the exported URL is '$url', which a terminal shows",
  async (given) => {
    const file = join(await createFolder({ "config.yaml": "appliances: []\n" }), "config.yaml");
    const port = await closedPort();
    const { io, printed, stop } = await createTestIo({ logIsTerminal: true });
    const address = `--web.listen-address=127.0.0.1:${port}`;
    const ended = runProgram(["run", `--config.file=${file}`, address, ...given.flags], io);
    onTestFinished(stop);
    await eventually(async () => {
      const { status, body } = await ask(port, `${given.prefix}/metrics`);
      expect(status).toBe(200);
      expect(body.toString()).toContain(
        `\nappliance_exporter_external_url_info{external_url="${given.url}"} 1\n`,
      );
    });
    const { body } = await ask(port, `${given.prefix}/runbook`);
    expect(body.toString()).toContain('<h3 id="vrrpsplitbrain">');
    stop();
    expect(await ended).toBe(0);
    const page = given.url === "" ? `http://127.0.0.1:${port}` : given.url;
    expect(printed.err).toBe(`\nStatus page: ${page}/   Ctrl-C stops the exporter.\n\n`);
  },
);
