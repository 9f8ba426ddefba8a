export interface Slope {
  /** Per unit of x. */
  readonly estimate: number;
  /** Half the width of its 95 % interval; Infinity where the points tell nothing. */
  readonly margin: number;
}

type Points = readonly (readonly [x: number, y: number])[];

/**
 * The least-squares slope of y over evenly spaced x. What was measured one after the other is alike; the interval takes
 * the points for as few as they are worth by the correlation of neighbouring residuals.
 *
 * @see B. D. Santer et al., "Statistical significance of trends and trend differences", J. Geophys. Res. 105 (2000), eq. 3-6
 */
export function slopeOf(points: Points): Slope {
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const spread = sum(points.map(([x]) => (x - meanX) ** 2));
  const estimate = sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / spread;
  const residuals = points.map(([x, y]) => y - meanY - estimate * (x - meanX));
  const freedom = effectiveCount(residuals) - 2;
  if (!(freedom >= 1)) return { estimate, margin: Number.POSITIVE_INFINITY };
  const variance = sum(residuals.map((residual) => residual ** 2)) / freedom / spread;
  return { estimate, margin: studentQuantile(freedom) * Math.sqrt(variance) };
}

/** How many independent values say as much as these. */
function effectiveCount(residuals: readonly number[]): number {
  const square = sum(residuals.map((residual) => residual ** 2));
  const neighbours = sum(residuals.slice(1).map((residual, before) => residual * (residuals[before] ?? 0)));
  const correlation = square === 0 ? 0 : Math.max(0, neighbours / square);
  return (residuals.length * (1 - correlation)) / (1 + correlation);
}

/** 97.5 % of Student's distribution lies below, to 1 % from three degrees of freedom on. @see Abramowitz and Stegun, 26.7.5 */
function studentQuantile(freedom: number): number {
  const z = 1.959964;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
