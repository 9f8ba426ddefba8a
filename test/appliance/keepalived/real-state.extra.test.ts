import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { instanceOf, sourceIn, startKeepalived, describeState } from "./lab.ts";
import { createLoneNetwork } from "./network.ts";
import { temporaryFolder } from "./support.ts";

describe("the state of a real keepalived", () => {
  test("has the interfaces of its configuration", async () => {
    const network = await createLoneNetwork();
    const keepalived = await startKeepalived(
      network,
      `vrrp_instance VI_1 {
        interface eth0
        virtual_router_id 51
        priority 150
        advert_int 0.1
        virtual_ipaddress {
          198.51.100.100/24
          198.51.100.101/25 dev eth0 label eth0:1
          198.51.100.102
        }
      }
      vrrp_instance "VI 2" {
        interface eth0
        virtual_router_id 52
        priority 255
        advert_int 0.1
        virtual_ipaddress {
          fe80::5/64
          2001:db8::2
        }
      }`,
    );
    const source = sourceIn(keepalived);
    const expected = {
      ok: true,
      interfaces: [
        {
          name: "VI_1",
          state: "MASTER",
          vhid: 51,
          vip: "198.51.100.100",
          netmask: "255.255.255.0",
          alias: ["198.51.100.101", "198.51.100.102"],
          priority: 150,
          device: "eth0",
          peer: "224.0.0.18",
          type: "2",
        },
        {
          name: "VI 2",
          state: "MASTER",
          vhid: 52,
          vip: "fe80::5",
          netmask: "ffff:ffff:ffff:ffff::",
          alias: ["2001:db8::2"],
          priority: 255,
          device: "eth0",
          peer: "224.0.0.18",
          type: "2",
        },
      ],
    };
    await expect.poll(source).toEqual(expected);
  });

  test("reports the priority as changed by a tracked file", async () => {
    const network = await createLoneNetwork();
    const weight = join(await temporaryFolder(), "weight");
    await writeFile(weight, "-20");
    const keepalived = await startKeepalived(
      network,
      `vrrp_track_file load {\n file ${weight}\n weight 1\n}\n` +
        instanceOf("priority 150\n track_file { load }"),
    );
    const source = sourceIn(keepalived);
    await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 130"]);
    await writeFile(weight, "10");
    await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 160"]);
  });

  test("reports a fault as BACKUP, and the state after it", async () => {
    const network = await createLoneNetwork();
    const keepalived = await startKeepalived(network, instanceOf("priority 150"));
    const source = sourceIn(keepalived);
    await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 150"]);
    network.ip("link", "set", "eth0", "down");
    await expect.poll(() => describeState(source)).toEqual(["VI_1 BACKUP 150"]);
    expect(keepalived.log()).toContain("(VI_1) Entering FAULT STATE");
    network.ip("link", "set", "eth0", "up");
    await expect.poll(() => describeState(source)).toEqual(["VI_1 MASTER 150"]);
  });
});
