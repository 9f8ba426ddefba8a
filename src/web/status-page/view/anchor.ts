/** The id of a cluster's element: one for each name, without characters that a URL or a selector would read otherwise. */
export function clusterAnchor(name: string): string {
  return `cluster-${name.replace(/[^A-Za-z0-9.-]/g, (char) => `_${char.charCodeAt(0).toString(16)}_`)}`;
}
