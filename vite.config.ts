import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Bundles the script of the status page with its libraries into one file. */
export default defineConfig({
  logLevel: "warn",
  build: {
    target: "es2023",
    outDir: here("dist/page/client"),
    lib: {
      entry: here("src/page/client/main.ts"),
      formats: ["es"],
      fileName: () => "main.js",
    },
  },
});
