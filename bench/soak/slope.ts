export interface Slope {
  /** Per unit of x. */
  readonly estimate: number;
  /** Half the width of its 95 % interval; Infinity where the values tell nothing. */
  readonly margin: number;
}

type Values = readonly number[];

/** Squares that are smaller than others by this much are what floating point leaves of nothing. */
const ROUNDING = 1e-20;

/**
 * The least-squares slope of y over evenly spaced x, at equal values of what was measured beside them. What was measured
 * one after the other is alike; the interval takes the values for as few as they are worth by the correlation of
 * neighbouring residuals.
 *
 * @see B. D. Santer et al., "Statistical significance of trends and trend differences", J. Geophys. Res. 105 (2000), eq. 3-6
 */
export function slopeOf(x: Values, y: Values, beside: readonly Values[] = []): Slope {
  const axes = axesOf([x.map(() => 1), ...beside]);
  const ownX = without(x, axes);
  const ownY = without(y, axes);
  const spread = product(ownX, ownX);
  const estimate = product(ownX, ownY) / spread;
  const residuals = ownY.map((value, i) => value - estimate * (ownX[i] ?? 0));
  const correlation = product(residuals, residuals) > ROUNDING * product(y, y) ? memoryOf(residuals) : 0;
  const freedom = (x.length * (1 - correlation)) / (1 + correlation) - axes.length - 1;
  if (freedom < 1) return { estimate, margin: Number.POSITIVE_INFINITY };
  const variance = product(residuals, residuals) / freedom / spread;
  return { estimate, margin: studentQuantile(freedom) * Math.sqrt(variance) };
}

/** Orthonormal axes for all that the given values can explain; values that add nothing have none. */
function axesOf(all: readonly Values[]): readonly Values[] {
  const axes: Values[] = [];
  for (const values of all) {
    const own = without(values, axes);
    const length = Math.sqrt(product(own, own));
    if (length ** 2 > ROUNDING * product(values, values)) axes.push(own.map((value) => value / length));
  }
  return axes;
}

/** What of the values the axes do not explain. */
function without(values: Values, axes: readonly Values[]): Values {
  return axes.reduce((rest, axis) => {
    const share = product(rest, axis);
    return rest.map((value, i) => value - share * (axis[i] ?? 0));
  }, values);
}

/** How much of each value is in the next one, from 0 up to 1. */
function memoryOf(residuals: Values): number {
  return Math.max(0, product(residuals.slice(1), residuals) / product(residuals, residuals));
}

/** 97.5 % of Student's distribution lies below, to 1 % from three degrees of freedom on. @see Abramowitz and Stegun, 26.7.5 */
function studentQuantile(freedom: number): number {
  const z = 1.959964;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}

/** Over as many as the first has. */
function product(a: Values, b: Values): number {
  return a.reduce((total, value, i) => total + value * (b[i] ?? 0), 0);
}
