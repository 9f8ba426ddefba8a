/** How this program was built, and what runs it. */
export interface Build {
  /** The commit; "unknown" if git was not there at the build. */
  readonly revision: string;
  readonly branch: string;
  /** In UTC, such as `20260301-07:53:32`. */
  readonly date: string;
  /** With its "v", as Node.js has it. */
  readonly nodeVersion: string;
  /** Such as `linux/x64`. */
  readonly platform: string;
}

/** The answer to `--version`, in the form of Prometheus's exporters. */
export function describeVersion(version: string, build: Build): string {
  return `appliance-exporter, version ${version} (branch: ${build.branch}, revision: ${build.revision})
  build date:       ${build.date}
  node version:     ${build.nodeVersion}
  platform:         ${build.platform}`;
}
