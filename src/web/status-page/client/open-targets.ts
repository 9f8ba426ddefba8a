/** From now on a link to a cluster opens it, however often it is followed; so does the URL of the page itself. */
export function openTargets(): void {
  addEventListener("hashchange", () => open(location.hash));
  document.addEventListener("click", ({ target }) => {
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>('a[href^="#"]') : null;
    // The page's own URL may hold that hash already, and then does not change.
    if (link !== null) open(link.hash);
  });
  open(location.hash);
}

function open(hash: string): void {
  const target = document.getElementById(hash.slice(1));
  if (target instanceof HTMLDetailsElement) target.open = true;
}
