/** Returns the URL of a file that the build makes, such as `page/client/main.js`; the same from the source and from the built program. */
export function builtFile(path: string): URL {
  // This file lies in src/support, and in dist/chunks when it is built.
  return new URL(`../../dist/${path}`, import.meta.url);
}
