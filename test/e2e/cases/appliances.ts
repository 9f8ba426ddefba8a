import { CREDENTIALS } from "../lab/fleet.ts";
import { applianceAlert, ownsCluster, vrrpAlert, type Case } from "./case.ts";

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
  name: "an appliance that refuses the credentials is a ticket, until they are mended",
  owns: ownsCluster("refusal"),
  play: async ({ happens }, lab) => {
    const refusal = lab.cluster("refusal");
    const { name } = refusal.other;
    const alert = applianceAlert("ApplianceCredentialsRefused", "warning", refusal, name);
    const refused = await happens("wrong credentials", () => lab.setPassword(name, "wrong"));
    await refused.tells(alert);
    const mended = await happens("right credentials", () => lab.setPassword(name, CREDENTIALS.password));
    await mended.resolves(alert);
  },
};

export const APPLIANCE_CASES: readonly Case[] = [cutOff, wrongCredentials];
