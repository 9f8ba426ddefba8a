import type { VrrpInterface, VrrpList } from "../api/vrrp-list.ts";
import type { WebsiteStatus } from "../api/website-test.ts";
import { canonicalAddress } from "./address.ts";

/** An interface as it was last seen, and its changes since it was first seen. */
export interface SeenInterface {
  /** As decoded, with `vip` in canonical text. */
  readonly reported: VrrpInterface;
  /** Whether the latest good answer had it in readable form. */
  readonly isReadable: boolean;
  /** Unix time in milliseconds. */
  readonly firstSeenAtMs: number;
  readonly transitions: number;
  /** Unix time in milliseconds; `undefined` before the first transition. */
  readonly lastTransitionAtMs: number | undefined;
}

export interface Transition {
  readonly reported: VrrpInterface;
  readonly from: string;
}

/**
 * What is known of an appliance's interfaces after one more good answer: those it holds, with their state compared with
 * the last good answer, and, as they were, those it holds in unreadable form. The others are forgotten, counters too.
 */
export function afterVrrpList(
  seen: readonly SeenInterface[],
  list: VrrpList,
  atMs: number,
): { readonly seen: readonly SeenInterface[]; readonly transitions: readonly Transition[] } {
  const before = new Map(seen.map((known) => [seriesKey(known.reported), known]));
  const steps = list.interfaces.map((decoded) => {
    const vip = canonicalAddress(decoded.vip);
    const reported = vip === decoded.vip ? decoded : { ...decoded, vip };
    const known = before.get(seriesKey(reported));
    return { reported, from: known?.reported.state, seen: advance(known, reported, atMs) };
  });
  const unreadable = new Set(list.unreadable);
  const kept = seen.filter(({ reported }) => unreadable.has(reported.name));
  return {
    seen: [...steps.map((step) => step.seen), ...kept.map((known) => ({ ...known, isReadable: false }))],
    transitions: steps.flatMap(({ reported, from }) =>
      from === undefined || from === reported.state ? [] : [{ reported, from }],
    ),
  };
}

function advance(known: SeenInterface | undefined, reported: VrrpInterface, atMs: number): SeenInterface {
  const isReadable = true;
  if (known === undefined)
    return { reported, isReadable, firstSeenAtMs: atMs, transitions: 0, lastTransitionAtMs: undefined };
  if (known.reported.state === reported.state) return { ...known, reported, isReadable };
  return { ...known, reported, isReadable, transitions: known.transitions + 1, lastTransitionAtMs: atMs };
}

/** Interfaces with the same labels are the same interface. */
function seriesKey({ name, vhid, vip }: VrrpInterface): string {
  return JSON.stringify([name, vhid, vip]);
}

/** A website's status by one protocol, and how often it has changed since it was first seen. */
export interface SeenStatus extends WebsiteStatus {
  readonly changes: number;
}

export interface StatusChange extends WebsiteStatus {
  readonly from: number;
  readonly wasUp: boolean;
  readonly isUp: boolean;
}

/** What is known of a website after one more valid answer; protocols that it lacks are forgotten, counters too. */
export function afterWebsiteTest(
  seen: readonly SeenStatus[],
  statuses: readonly WebsiteStatus[],
  isUp: (status: number) => boolean,
): { readonly seen: readonly SeenStatus[]; readonly changes: readonly StatusChange[] } {
  const before = new Map(seen.map((known) => [known.protocol, known]));
  return {
    seen: statuses.map((now) => {
      const known = before.get(now.protocol);
      const hasChanged = known !== undefined && known.status !== now.status;
      return { ...now, changes: (known?.changes ?? 0) + (hasChanged ? 1 : 0) };
    }),
    changes: statuses.flatMap((now) => {
      const from = before.get(now.protocol)?.status;
      if (from === undefined || from === now.status) return [];
      return [{ ...now, from, wasUp: isUp(from), isUp: isUp(now.status) }];
    }),
  };
}
