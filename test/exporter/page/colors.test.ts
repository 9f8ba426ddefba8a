import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { THEMES } from "../../../src/exporter/page/page.ts";

const STYLE = await readFile("src/exporter/page/style.css", "utf8");

type Rgb = readonly number[];

/** The channels of `#rrggbb`, linear, from 0 to 1. */
function linear(color: string): Rgb {
  return [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
}

/** What people see who lack one kind of cones: Viénot, Brettel and Mollon, 1999. */
const SIGHTS: Readonly<Record<string, readonly Rgb[]>> = {
  "all colors": [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.11238, 0.88762, 0],
    [0.11238, 0.88762, 0],
    [0.00401, -0.00401, 1],
  ],
  deuteranopia: [
    [0.29275, 0.70725, 0],
    [0.29275, 0.70725, 0],
    [-0.02234, 0.02234, 1],
  ],
  // Machado, Oliveira and Fernandes, 2009: the other method does not hold for blue.
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function luminance(color: string, sight: readonly Rgb[]): number {
  const channels = linear(color);
  const seen = sight.map((row) => row.reduce((sum, part, nth) => sum + part * (channels[nth] ?? 0), 0));
  const [red = 0, green = 0, blue = 0] = seen.map((part) => Math.min(1, Math.max(0, part)));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function ratio(one: string, other: string, sight: readonly Rgb[] = SIGHTS["all colors"] ?? []): number {
  const [low = 0, high = 0] = [luminance(one, sight), luminance(other, sight)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The colors of the style sheet, in light and dark, of a property in the rule of each selector. */
function colorsOf(selectors: readonly string[], property: string): readonly (readonly string[])[] {
  const all = selectors.map((selector) => {
    const rule = STYLE.split(`\n${selector} {`)[1]?.split("}")[0] ?? "";
    const [, light = "", dark = light] =
      new RegExp(`[ ;]${property}: (?:light-dark\\()?(#\\w{6})(?:, (#\\w{6})\\))?;`).exec(rule) ?? [];
    return [light, dark];
  });
  return [0, 1].map((theme) => all.map((each) => each[theme] ?? ""));
}

const LEVELS = ["critical", "warning", "planned", "well"] as const;
const FILLS = colorsOf(
  LEVELS.map((level) => `[data-level="${level}"]`),
  "--fill",
);
const BANDS = colorsOf(
  ["down", "impaired", "planned", "up"].map((band) => `.strip .${band}`),
  "fill",
);

test.each(
  [...FILLS, ...BANDS].flatMap((colors) => Object.keys(SIGHTS).map((sight) => [colors, sight] as const)),
)("%j are apart in grey, as seen with %s", (colors, sight) => {
  const pairs = colors.flatMap((one, nth) => colors.slice(nth + 1).map((other) => [one, other] as const));
  expect(pairs).toHaveLength(6);
  const near = pairs.filter(([one, other]) => ratio(one, other, SIGHTS[sight]) < 1.3);
  expect(near).toEqual([]);
});

test("texts on fills and on the page have a contrast of 4.5 to 1, the sign of what is well 3 to 1", () => {
  const [on = []] = colorsOf(
    LEVELS.map((level) => `[data-level="${level}"]`),
    "--on",
  );
  const contrasts = on.map((color, nth) => ratio(color, FILLS[0]?.[nth] ?? ""));
  expect(contrasts.slice(0, 3).filter((each) => each < 4.5)).toEqual([]);
  expect(contrasts[3]).toBeGreaterThan(3);
  const tones = colorsOf(
    LEVELS.map((level) => `[data-level="${level}"]`),
    "--tone",
  );
  const grounds = [
    ["#f6f7f9", "#ffffff"],
    ["#0e1116", "#161b22"],
  ];
  const pairs = tones.flatMap((own, theme) =>
    own.flatMap((tone) => (grounds[theme] ?? []).map((ground) => [tone, ground] as const)),
  );
  expect(pairs).toHaveLength(16);
  expect(pairs.filter(([tone, ground]) => ratio(tone, ground) < 4.5)).toEqual([]);
});

test("the colors of the icons are those of the style sheet", () => {
  expect(LEVELS.map((level) => THEMES[level])).toEqual(FILLS[0]);
});
