import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The script of the status page: one file, so that a browser far away waits for one answer, and not for one import after another. */
export default defineConfig({
  logLevel: "warn",
  build: {
    target: "es2023",
    outDir: here("dist/web/status-page/client"),
    lib: {
      entry: here("src/web/status-page/client/main.ts"),
      formats: ["es"],
      fileName: () => "main.js",
    },
  },
});
