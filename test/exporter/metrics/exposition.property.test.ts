import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { cutText } from "../../../src/exporter/api/text.ts";
import { fleetOf } from "../fleet/support.ts";
import {
  applianceOf,
  blocksOf,
  failed,
  interfaceOf,
  listOf,
  seen,
  websiteOf,
} from "../../support/observations.ts";
import { expositionOf } from "./canned-fleet.ts";
import { parseExposition, type ParsedSample } from "./strict-parser.ts";

// Hundreds of expositions are parsed.
vi.setConfig({ testTimeout: 30_000 });

/** Of each property. With `EXPOSITION_RUNS=1000` there are so many expositions. */
const RUNS = { numRuns: Number(process.env["EXPOSITION_RUNS"] ?? 30) };

/** 256 bytes, and where something was cut or replaced a mark and the hash. */
const MAX_VALUE_BYTES = 256 + 17;

/** Text of the worst kind: any UTF-16, lone surrogates among it, whatever breaks lines or quotes, and very long text. */
const rawText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        "\ud800",
        "\udc00",
        "\0",
        '"',
        "\\",
        "\n",
        "\r",
        ",",
        "}",
        "=",
        "\u2028",
        "é",
        "漢",
        "💥",
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join("")),
  fc
    .tuple(fc.integer({ min: 80, max: 10_240 }), fc.constantFrom("x", "é", "漢", "💥", "\ud800"))
    .map(([length, char]) => char.repeat(length)),
);
/** As decoding keeps it. */
const text = rawText.map(cutText);
const nonEmpty = text.filter((value) => value !== "");

/** The samples of a fleet of one cluster of two, filled with texts. */
async function samplesOf(
  texts: readonly string[],
  label: string,
  name: string,
  vip: string,
): Promise<readonly ParsedSample[]> {
  const websites = [websiteOf({ id: 1, name: label }), websiteOf({ id: 2, name })];
  const appliance = applianceOf({ name, cluster: label, labels: { site: label, owner: name }, websites });
  const fleet = fleetOf([appliance, { ...appliance, name: cutText(`${name}'`) }]);
  const interfaces = texts.map((each) =>
    interfaceOf({ name: each, vip, device: each, netmask: each, peer: each, state: each || "x" }),
  );
  fleet.record(seen.vrrp(name, listOf(interfaces)), 0);
  fleet.record(seen.website(name, 1, [{ protocol: "http", status: 200 }]), 0);
  const exposition = await expositionOf(fleet, 0);
  const bytes = Buffer.from(exposition);
  // Lone surrogates would be replaced on the way out, and come back as something else.
  expect(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)).toBe(exposition);
  return parseExposition(exposition).flatMap(({ samples }) => samples);
}

test("whatever names, addresses and labels hold, the text is valid, every series unique and every value bounded", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(nonEmpty, { maxLength: 12 }),
      text,
      nonEmpty,
      nonEmpty,
      async (texts, label, name, vip) => {
        const samples = await samplesOf(texts, label, name, vip);
        const values = samples.flatMap(({ labels }) => [...labels]);
        const tooLong = values.filter(([key, value]) => {
          // Sentences have several names.
          return key === "summary" || key === "advice"
            ? value.length > 500
            : Buffer.byteLength(value) > MAX_VALUE_BYTES;
        });
        expect(tooLong).toEqual([]);
        expect(samples.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
        expect(samples.filter((sample) => sample.name === "vrrp_is_master")).toHaveLength(texts.length);
      },
    ),
    RUNS,
  );
});

test("whatever names websites have, each risk of a failover is one valid series", async () => {
  const hosts = ["a.example", "b.example", "c.example"];
  const names = fc.constantFrom(
    "shop",
    "shop http",
    "shop (a.example:443)",
    "all",
    "more",
    "a\nb",
    '"',
    "\\",
    "",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(names, { minLength: 3, maxLength: 3 }),
      fc.boolean(),
      async (given, isListed) => {
        const members = ["a", "b"].map((name) =>
          applianceOf({ name, cluster: "ams", discovery: { exclude: [], limit: 200 } }),
        );
        const sites = (name: string, status: number) => [
          seen.websites(name, [1, 2, 3]),
          ...hosts.map((host, nth) => seen.details(name, nth + 1, { host, name: given[nth] ?? "" })),
          ...hosts.map((_, nth) => seen.website(name, nth + 1, blocksOf(status, 200))),
        ];
        const fleet = fleetOf(members, [
          seen.vrrp("a", listOf([interfaceOf()])),
          seen.vrrp("b", listOf([interfaceOf({ state: "BACKUP" })])),
          ...sites("a", 200),
          ...sites("b", 503),
          ...(isListed ? [] : [failed.websites("b", "decode")]),
        ]);
        const families = parseExposition(await expositionOf(fleet, 0));
        const risks = families.find(({ name }) => name === "failover_risk_info")?.samples ?? [];
        const lost = risks.filter(({ labels }) => labels.get("risk") === "website_down");
        // Two of these names may mean the same.
        expect([2, 3]).toContain(lost.length);
      },
    ),
    RUNS,
  );
});

test("a value that is short and well-formed comes back as it was reported", async () => {
  const short = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(short, async (name) => {
      const samples = await samplesOf([name], "label", "waf", "192.0.2.1");
      const master = samples.find((sample) => sample.name === "vrrp_is_master");
      expect(master?.labels.get("interface")).toBe(name);
    }),
    RUNS,
  );
});

test("series that differ only where separators stand do not merge", async () => {
  const fleet = fleetOf([applianceOf({ name: "waf" })]);
  const one = interfaceOf({ name: "1", vip: '2",vip="3' });
  const other = interfaceOf({ name: '1",vip="2', vip: "3" });
  fleet.record(seen.vrrp("waf", listOf([one, other])), 0);
  const family = parseExposition(await expositionOf(fleet, 0)).find(({ name }) => name === "vrrp_is_master");
  expect(family?.samples.map(({ labels }) => [labels.get("interface"), labels.get("vip")])).toEqual([
    ["1", '2",vip="3'],
    ['1",vip="2', "3"],
  ]);
});
