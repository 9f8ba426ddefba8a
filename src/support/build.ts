export interface Build {
  /** The commit; "unknown" if git was not there at the build. */
  readonly revision: string;
  readonly branch: string;
  /** The time of the build in UTC: `20260301-07:53:32`. */
  readonly date: string;
  /** The version of Node.js, for example `v20.19.0`. */
  readonly nodeVersion: string;
  /** The platform, for example `linux/x64`. */
  readonly platform: string;
}

/** Returns the answer to `--version`, in the form of Prometheus's exporters. */
export function describeVersion(version: string, build: Build): string {
  return `appliance-exporter, version ${version} (branch: ${build.branch}, revision: ${build.revision})
  build date:       ${build.date}
  node version:     ${build.nodeVersion}
  platform:         ${build.platform}`;
}
