/** Whether If-None-Match names an entity tag, by weak comparison. @see RFC 9110, 13.1.2 and 8.8.3.2 */
export function isKnownTag(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const known = new Set(ifNoneMatch.split(",").map((tag) => opaque(tag.trim())));
  return known.has("*") || known.has(opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, "");
}
