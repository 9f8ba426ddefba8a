import type { Sandbox } from "./sandbox.ts";

/** One end of a cable is a device in a namespace, the other a port of a bridge in the lab's own network. */
export interface Link {
  /** Takes the carrier away, as an unplugged cable does. */
  unplug(): Promise<void>;
  plug(): Promise<void>;
  /** On: nothing passes between this port and others that are isolated too. The carrier stays. */
  isolate(isolated: boolean): Promise<void>;
}

interface LinkOptions {
  readonly namespace: string;
  readonly device: string;
  readonly bridge: string;
  /** With the length of its prefix. */
  readonly address: string;
}

/** Bridges forward at once: no spanning tree, and no guessing at who listens to which group. */
export function addBridge(sandbox: Sandbox, bridge: string, address?: string): Promise<string> {
  return ip(sandbox, [
    `link add ${bridge} type bridge stp_state 0 mcast_snooping 0`,
    ...(address === undefined ? [] : [`addr add ${address} dev ${bridge}`]),
    `link set ${bridge} up`,
  ]);
}

export async function addNamespace(sandbox: Sandbox, namespace: string): Promise<void> {
  await ip(sandbox, [`netns add ${namespace}`]);
  await ip(sandbox, ["link set lo up"], namespace);
}

/** Connects a namespace to a bridge. The port is called `namespace.d`, `d` being the device's first letter. */
export async function addLink(
  sandbox: Sandbox,
  { namespace, device, bridge, address }: LinkOptions,
): Promise<Link> {
  const port = `${namespace}.${device.slice(0, 1)}`;
  await ip(sandbox, [
    `link add ${device} netns ${namespace} type veth peer name ${port}`,
    `link set ${port} master ${bridge} up`,
  ]);
  await ip(sandbox, [`addr add ${address} dev ${device}`, `link set ${device} up`], namespace);
  return {
    unplug: async () => void (await ip(sandbox, [`link set ${port} down`])),
    plug: async () => void (await ip(sandbox, [`link set ${port} up`])),
    isolate: async (isolated) => {
      const command = ["bridge", "link", "set", "dev", port, "isolated", isolated ? "on" : "off"];
      await sandbox.run("lab", command);
    },
  };
}

function ip(sandbox: Sandbox, lines: readonly string[], namespace?: string): Promise<string> {
  const inside = namespace === undefined ? [] : ["-n", namespace];
  return sandbox.run("lab", ["ip", ...inside, "-batch", "-"], `${lines.join("\n")}\n`);
}
