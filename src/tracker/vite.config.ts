import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** One classic script, dist/tracker/v1.js, which defines nothing but `window.vitrine`. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  publicDir: false,
  logLevel: "warn",
  build: {
    target: "es2022",
    rolldownOptions: { output: { topLevelVar: false } }, // so that the minifier inlines what is used once
    lib: { entry: "main.ts", formats: ["iife"], name: "_", fileName: () => "v1.js" },
  },
});
