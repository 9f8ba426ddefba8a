import { groupBy } from "../../support/group-by.ts";

/** An interface of a member that has the address in question. */
export interface Port {
  /** The place of the member in the cluster. */
  readonly member: number;
  /** The name of the interface, unique for its member. */
  readonly name: string;
  /** The device; empty if it is not known. */
  readonly device: string;
}

/** The interfaces on one link, at most one of each member. */
export interface Link<Of extends Port = Port> {
  readonly ports: readonly Of[];
  /** Whether the link is known. If not, `ports` are the interfaces of which nobody can tell which are on one link. */
  readonly isKnown: boolean;
}

/**
 * Divides the interfaces of the members that have one address into links. Interfaces with one name are on one link. Names that not all of
 * these members have are one link if their device is the same, unless a member has two interfaces there. An interface that has no partner
 * by that is on a link of its own if no other member has one that could be its partner.
 */
export function linksOf<Of extends Port>(ports: readonly Of[]): readonly Link<Of>[] {
  const membersOf = (some: readonly Of[]) => new Set(some.map(({ member }) => member));
  const members = membersOf(ports).size;
  const named = [...groupBy(ports, ({ name }) => name).values()];
  const left = named.filter((link) => link.length < members);
  const byDevice = groupBy(left, (link) => deviceOf(link) || link);
  const joined = [...byDevice.values()].flatMap((alike) => {
    const all = alike.flat();
    const isOneLink = membersOf(all).size === all.length && alike.filter(isShared).length <= 1;
    return isOneLink ? [all] : alike;
  });
  const links = [...named.filter((link) => link.length === members), ...joined];
  const countOf = new Map(
    Array.from(
      groupBy(ports, ({ member }) => member),
      ([of, own]) => [of, own.length],
    ),
  );
  // Each member has one interface on a link at most, so it lacks all links but as many as it has interfaces.
  const isAlone = ([port, ...others]: readonly Of[]): boolean =>
    others.length === 0 && port !== undefined && links.length > (countOf.get(port.member) ?? 0);
  const unknown = links.filter(isAlone).flat();
  const known = links.filter((link) => !isAlone(link)).map((link) => ({ ports: link, isKnown: true }));
  return unknown.length === 0 ? known : [...known, { ports: unknown, isKnown: false }];
}

function isShared(link: readonly Port[]): boolean {
  return link.length > 1;
}

/** Returns the device that all of these interfaces have; empty if there is none. */
function deviceOf([first, ...others]: readonly Port[]): string {
  const { device = "" } = first ?? {};
  return others.every((port) => port.device === device) ? device : "";
}
