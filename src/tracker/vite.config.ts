import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

/** One classic script, dist/tracker/v1.js, which defines nothing but `window.vitrine`. */
export default defineConfig({
  root: fileURLToPath(new URL(".", import.meta.url)),
  publicDir: false,
  logLevel: "warn",
  build: {
    target: "es2022",
    rolldownOptions: { output: { topLevelVar: false } }, // what is declared once and used once is then written in place
    lib: { entry: "main.ts", formats: ["iife"], name: "_", fileName: () => "v1.js" },
  },
});
