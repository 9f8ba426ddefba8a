import { expect, test } from "vitest";

import type { ApplianceConfig } from "../../src/config/config.ts";
import { createFleet } from "../../src/fleet/fleet.ts";
import type { FleetSnapshot } from "../../src/fleet/snapshot.ts";
import { targetGroups } from "../../src/web/discovery.ts";
import { applianceOf, configOf } from "../support/observations.ts";
import { ask, routes, serve } from "./support.ts";

function snapshotOf(...appliances: readonly ApplianceConfig[]): FleetSnapshot {
  const fleet = createFleet();
  fleet.configure(configOf(...appliances), 0);
  return fleet.snapshot(0);
}

const AMS_1 = applianceOf({ name: "ams-1", cluster: "ams", labels: { site: "ams", rack: "1" } });
const AMS_2 = applianceOf({ name: "ams-2", cluster: "ams", labels: { site: "ams", rack: "2" } });
const LAB = applianceOf({ name: "lab", labels: { site: "lab" } });

test("each cluster and lone appliance is a group, with the labels that all members share", () => {
  expect(targetGroups(snapshotOf(AMS_1, LAB, AMS_2))).toEqual([
    { targets: ["ams"], labels: { __meta_appliance_ha_cluster: "ams", __meta_appliance_label_site: "ams" } },
    { targets: ["lab"], labels: { __meta_appliance_ha_cluster: "lab", __meta_appliance_label_site: "lab" } },
  ]);
});

test("disabled appliances neither make a group nor share labels", () => {
  const groups = targetGroups(snapshotOf(AMS_1, { ...AMS_2, enabled: false }, { ...LAB, enabled: false }));
  expect(groups).toEqual([
    {
      targets: ["ams"],
      labels: {
        __meta_appliance_ha_cluster: "ams",
        __meta_appliance_label_site: "ams",
        __meta_appliance_label_rack: "1",
      },
    },
  ]);
});

test("a cluster whose appliances are all disabled is no target", () => {
  const groups = targetGroups(snapshotOf({ ...AMS_1, enabled: false }, { ...AMS_2, enabled: false }, LAB));
  expect(groups.map(({ targets }) => targets)).toEqual([["lab"]]);
});

test("the groups are served as JSON", async () => {
  const port = await serve(routes({ snapshot: () => snapshotOf(LAB) }));
  const { status, headers, body } = await ask(port, "/sd");
  expect(status).toBe(200);
  expect(headers["content-type"]).toBe("application/json");
  expect(body.toString()).toBe(
    '[{"targets":["lab"],"labels":{"__meta_appliance_ha_cluster":"lab","__meta_appliance_label_site":"lab"}}]\n',
  );
});

test("a fleet of none is an empty list", () => {
  expect(targetGroups(snapshotOf())).toEqual([]);
});
