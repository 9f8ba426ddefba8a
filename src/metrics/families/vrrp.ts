import type { InterfaceSnapshot, VrrpListSnapshot } from "../../fleet/snapshot.ts";
import { asBit, asSeconds, onceInARow, sample, stateSamples, type Family, type Labels } from "../family.ts";

const SOURCE =
  "From the latest poll of the VRRP list, not from the scrape; absent unless that poll succeeded.";

/** The VRRP interfaces of the appliances. @see management API 2.1 */
export const VRRP_FAMILIES: readonly Family[] = [
  gauge("vrrp_is_master", "Whether state_current of the VRRP interface is MASTER (1) or not (0).", (i) =>
    asBit(i.reported.state === "MASTER"),
  ),
  gauge("vrrp_priority", "Priority of the VRRP interface as reported, 0 to 255.", (i) => i.reported.priority),
  gauge(
    "vrrp_advskew",
    "Advertising skew of the VRRP interface as reported, -1 to 254.",
    (i) => i.reported.advskew,
  ),
  gauge("vrrp_aliases", "Number of IP aliases of the VRRP interface.", (i) => i.reported.aliases?.length),
  {
    name: "vrrp_state",
    type: "gauge",
    help: `Whether state_current of the VRRP interface is that of the label state. ${SOURCE}`,
    samples: {
      vrrp_list: (section) =>
        labelled(section).flatMap(({ labels, i }) => stateSamples(labels, STATES, stateOf(i))),
    },
  },
  {
    name: "vrrp_interface_info",
    type: "gauge",
    help: `Further facts of the VRRP interface as reported; always 1. ${SOURCE}`,
    samples: {
      vrrp_list: (section) =>
        labelled(section).map(({ labels, i }) => ({ labels: labels.concat(infoLabels(i)), value: 1 })),
    },
  },
  {
    name: "vrrp_transitions_total",
    type: "counter",
    help: `Changes of state_current against the last successful poll, since the interface was first seen. ${SOURCE}`,
    samples: perInterface((i) => i.transitions),
  },
  gauge(
    "vrrp_last_transition_timestamp_seconds",
    "When the latest change of state_current was seen, as Unix time; absent before the first.",
    (i) => asSeconds(i.lastTransitionAtMs),
  ),
];

function gauge(name: string, help: string, value: (i: InterfaceSnapshot) => number | undefined): Family {
  return { name, type: "gauge", help: `${help} ${SOURCE}`, samples: perInterface(value) };
}

/** `other`: a state as reported that is neither; the word is in the JSON and in the log. */
const STATES = ["MASTER", "BACKUP", "other"] as const;

function stateOf({ reported: { state } }: InterfaceSnapshot): (typeof STATES)[number] {
  return STATES.find((known) => known === state) ?? "other";
}

/** One sample of each interface that has the value. */
function perInterface(value: (i: InterfaceSnapshot) => number | undefined): Family["samples"] {
  return { vrrp_list: (section) => labelled(section).flatMap(({ labels, i }) => sample(labels, value(i))) };
}

/** The families share the labels. */
const labelled = onceInARow(({ interfaces }: VrrpListSnapshot) =>
  interfaces.map((i) => ({ i, labels: interfaceLabels(i) })),
);

function interfaceLabels({ reported: { name, vhid, vip } }: InterfaceSnapshot): Labels {
  return [
    ["interface", name],
    ["vhid", String(vhid)],
    ["vip", vip],
  ];
}

/** None that changes at a failover. */
function infoLabels({ reported: { device, netmask, peer, type } }: InterfaceSnapshot): Labels {
  return [
    ["device", device],
    ["netmask", netmask],
    ["peer", peer],
    ["configured_role", type === "1" ? "master" : type === "2" ? "backup" : ""],
  ];
}
