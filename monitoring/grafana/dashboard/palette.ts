/**
 * Colours that people who confuse red and green tell apart. None stands without a text.
 *
 * @see https://jfly.uni-koeln.de/color/ (Okabe and Ito)
 */
export const PALETTE = {
  good: "#0072B2",
  standby: "#56B4E9",
  notice: "#F0E442",
  warning: "#E69F00",
  bad: "#D55E00",
  unknown: "#8C8C8C",
} as const;
