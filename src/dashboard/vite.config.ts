import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** Bundles the page into dist/dashboard: index.html and, named by their content, its script and its style. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  base: "/dashboard/",
  publicDir: false,
  logLevel: "warn",
  build: {
    outDir: fileURLToPath(new URL("../../dist/dashboard", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // an inlined image would be a data: URL
    modulePreload: { polyfill: false },
  },
});
