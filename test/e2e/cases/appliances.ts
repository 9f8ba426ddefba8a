import { CREDENTIALS } from "../lab/fleet.ts";
import { ownsCluster, vrrpAlert, type Case } from "./case.ts";

const cutOff: Case = {
  name: "a master that the exporters cannot reach is one page",
  owns: ownsCluster("cutoff"),
  play: async ({ happens }, lab) => {
    const cutoff = lab.cluster("cutoff");
    const unknown = vrrpAlert("VrrpMasterUnknown", cutoff);
    const cut = await happens("master cut off from the exporters", cutoff.preferred.fleetLink.unplug);
    await cut.fires(unknown);
    const connected = await happens("connected again", cutoff.preferred.fleetLink.plug);
    await connected.resolves(unknown);
  },
};

const wrongCredentials: Case = {
  name: "a backup that refuses the credentials is one ticket until they are fixed",
  owns: ownsCluster("refusal"),
  play: async ({ happens }, lab) => {
    const refusal = lab.cluster("refusal");
    const { name } = refusal.other;
    const alert = vrrpAlert("ApplianceRefused", refusal, { severity: "warning", appliance: name });
    const refused = await happens("wrong credentials", () => lab.setPassword(name, "wrong"));
    await refused.fires(alert);
    const fixed = await happens("right credentials", () => lab.setPassword(name, CREDENTIALS.password));
    await fixed.resolves(alert);
  },
};

const dark: Case = {
  name: "a cluster of which no appliance is reached is one page",
  owns: ownsCluster("dark"),
  play: async ({ happens }, lab) => {
    const cluster = lab.cluster("dark");
    const links = [cluster.preferred.fleetLink, cluster.other.fleetLink];
    const alert = vrrpAlert("ClusterDark", cluster);
    const cut = await happens("both appliances cut off from the exporters", () =>
      Promise.all(links.map(({ unplug }) => unplug())),
    );
    await cut.fires(alert);
    const connected = await happens("both appliances connected again", () =>
      Promise.all(links.map(({ plug }) => plug())),
    );
    await connected.resolves(alert);
  },
};

export const APPLIANCE_CASES: readonly Case[] = [cutOff, wrongCredentials, dark];
