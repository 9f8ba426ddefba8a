/** Which of the elements it watches can be seen now, or soon. */
export interface InSight {
  watch(element: Element): void;
  forget(element: Element): void;
  has(element: Element): boolean;
  all(): Iterable<Element>;
}

/** `onSight`: an element comes near what can be seen. */
export function createInSight(onSight: (element: Element) => void): InSight {
  const seen = new Set<Element>();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) seen.delete(target);
        else {
          seen.add(target);
          onSight(target);
        }
      }
    },
    { rootMargin: "50%" },
  );
  return {
    watch: (element) => observer.observe(element),
    forget: (element) => {
      observer.unobserve(element);
      seen.delete(element);
    },
    has: (element) => seen.has(element),
    all: () => seen,
  };
}
