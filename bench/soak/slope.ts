export interface Slope {
  /** The slope per unit of x. */
  readonly estimate: number;
  /** Half the width of its 95 % confidence interval; Infinity if there are too few values. */
  readonly margin: number;
}

type Values = readonly number[];

/** Relative squares below this are rounding errors. */
const ROUNDING = 1e-20;

/**
 * Returns the least-squares slope of y over evenly spaced x, controlled for the values of `beside`. Successive measurements are correlated;
 * the interval uses the effective sample size from the correlation of neighboring residuals.
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
  const correlation =
    product(residuals, residuals) > ROUNDING * product(y, y) ? autocorrelation(residuals) : 0;
  const freedom = (x.length * (1 - correlation)) / (1 + correlation) - axes.length - 1;
  if (freedom < 1) return { estimate, margin: Number.POSITIVE_INFINITY };
  const variance = product(residuals, residuals) / freedom / spread;
  return { estimate, margin: studentQuantile(freedom) * Math.sqrt(variance) };
}

/** Returns an orthonormal basis of the given vectors; linearly dependent vectors are dropped. */
function axesOf(all: readonly Values[]): readonly Values[] {
  const axes: Values[] = [];
  for (const values of all) {
    const own = without(values, axes);
    const length = Math.sqrt(product(own, own));
    if (length ** 2 > ROUNDING * product(values, values)) axes.push(own.map((value) => value / length));
  }
  return axes;
}

/** Returns the part of the values that is orthogonal to the axes. */
function without(values: Values, axes: readonly Values[]): Values {
  return axes.reduce((rest, axis) => {
    const share = product(rest, axis);
    return rest.map((value, i) => value - share * (axis[i] ?? 0));
  }, values);
}

/** Returns the lag-1 autocorrelation, from 0 up to 1. */
function autocorrelation(residuals: Values): number {
  return Math.max(0, product(residuals.slice(1), residuals) / product(residuals, residuals));
}

/** Returns the 97.5 % quantile of Student's distribution, to 1 % from three degrees of freedom on. @see Abramowitz and Stegun, 26.7.5 */
function studentQuantile(freedom: number): number {
  const z = 1.959964;
  const first = (z ** 3 + z) / 4;
  const second = (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96;
  const third = (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / 384;
  return z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}

function product(a: Values, b: Values): number {
  return a.reduce((total, value, i) => total + value * (b[i] ?? 0), 0);
}
