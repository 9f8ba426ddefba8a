import { CREDENTIALS } from "../lab/fleet.ts";
import { ownsCluster, vrrpAlert, type Case } from "./case.ts";

const cutOff: Case = {
  name: "a master that the exporter cannot reach wakes somebody, once",
  owns: ownsCluster("cutoff"),
  play: async ({ happens, isFiring }, lab) => {
    const cutoff = lab.cluster("cutoff");
    const unknown = vrrpAlert("VrrpMasterUnknown", cutoff);
    const cut = await happens("master cut off from the exporter", cutoff.preferred.fleetLink.unplug);
    await cut.tells(unknown);
    // The alert about the master names the appliance.
    await isFiring("ApplianceDown", "cutoff");
    const connected = await happens("connected again", cutoff.preferred.fleetLink.plug);
    await connected.resolves(unknown);
  },
};

const wrongCredentials: Case = {
  name: "a backup that refuses the credentials wakes somebody, once, until they are fixed",
  owns: ownsCluster("refusal"),
  play: async ({ happens, isFiring }, lab) => {
    const refusal = lab.cluster("refusal");
    const { name } = refusal.other;
    const alert = vrrpAlert("VrrpRedundancyLost", refusal);
    const refused = await happens("wrong credentials", () => lab.setPassword(name, "wrong"));
    await refused.tells(alert);
    // The alert about the lost redundancy names the appliance.
    await isFiring("ApplianceCredentialsRefused", "refusal");
    const fixed = await happens("right credentials", () => lab.setPassword(name, CREDENTIALS.password));
    await fixed.resolves(alert);
  },
};

export const APPLIANCE_CASES: readonly Case[] = [cutOff, wrongCredentials];
