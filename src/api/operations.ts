/** Path of the list of VRRP interfaces, below the base URL. @see management API 4.1 */
export const VRRP_LIST_PATH = "/api/v1/interface/virtual";

/** Most bytes that the body of an answer may hold; 8 MiB, far above any honest answer. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;

/** Path of the connectivity test of one website, below the base URL. @see management API 4.2 */
export function websiteTestPath(id: number): string {
  return `/api/v1/website/${id}/test`;
}
