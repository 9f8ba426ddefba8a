/** Whichever data source is chosen above the dashboard. */
export const DATASOURCE = { type: "prometheus", uid: "${datasource}" };
