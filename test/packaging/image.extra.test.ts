import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { buildImage, runImage } from "./image.ts";
import { VERSION } from "./root.ts";

const CONFIG = `
http_client: { basic_auth: { username: monitor, password: x } }
appliances: [{ name: waf-lab, base_url: "https://127.0.0.1:1" }]
`;

const FOLDER = "/var/lib/appliance-exporter";

// Building it takes minutes of a processor, beside other tests.
const TIMEOUT_MS = 900_000;

test(
  "the image serves metrics, keeps a journal and is healthy, as user 65534 with a read-only root",
  { timeout: TIMEOUT_MS },
  async () => {
    const image = await buildImage();
    const container = await runImage(image, CONFIG);
    expect(readFileSync(`/proc/${container.pid}/status`, "utf8")).toMatch(
      /^Uid:\t65534\t65534\t65534\t65534$/m,
    );
    expect(await container.exec("touch", "/app/x")).toEqual({
      code: 1,
      output: "touch: cannot touch '/app/x': Read-only file system\n",
    });

    // Commands find the configuration in the working folder.
    const command = [...image.config.Entrypoint];
    expect(await container.exec(...command, "check")).toEqual({
      code: 0,
      output: "config.yaml: valid, appliances: 1 enabled, 0 disabled\n",
    });
    const init = ["init", "./new", "https://127.0.0.1:1", "--username=monitor", "--password-file=/dev/null"];
    expect(await container.exec(...command, ...init)).toEqual({
      code: 1,
      output: "cannot write .: it is read-only\n",
    });

    expect(await container.exec("ls", "/app/dist/sbom.cdx.json")).toMatchObject({ code: 0 });

    const fetchMetrics = `fetch("http://127.0.0.1:10849/metrics").then((r) => r.text()).then(console.log)`;
    const output = await eventually(async () => {
      const metrics = (await container.exec("node", "-e", fetchMetrics)).output;
      expect(metrics).toContain("\nappliance_exporter_storage_up 1\n");
      return metrics;
    });
    expect(Object.keys(image.config.Volumes)).toEqual([FOLDER]);
    expect((await container.exec("stat", "--format=%u %g %a", FOLDER)).output).toBe("65534 65534 700\n");
    expect((await container.exec("ls", FOLDER)).output).toMatch(/^\d{4}-\d\d-\d\d\.jsonl\n/);
    expect(output).toContain(
      '\nappliance_polls_total{appliance="waf-lab",ha_cluster="waf-lab",operation="vrrp"} ',
    );
    expect(output).toContain(
      `\nappliance_exporter_build_info{version="${VERSION}",revision="0123abcd",branch="unknown"`,
    );

    const [kind, ...check] = image.config.Healthcheck.Test;
    expect(kind).toBe("CMD");
    expect(await container.exec(...check)).toEqual({ code: 0, output: "" });
    expect(await container.exec(...check, "127.0.0.1:1")).toEqual({ code: 1, output: "" });
  },
);
