export interface Slope {
  /** Per unit of x. */
  readonly estimate: number;
  /** Half the width of its 95 % interval. */
  readonly margin: number;
}

/** The least-squares slope of y over x, with an interval that takes the residuals for independent. */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): Slope {
  const count = points.length;
  const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / count;
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const spread = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  const estimate = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const residuals = points.reduce((sum, [x, y]) => sum + (y - meanY - estimate * (x - meanX)) ** 2, 0);
  return { estimate, margin: 1.96 * Math.sqrt(residuals / (count - 2) / spread) };
}
