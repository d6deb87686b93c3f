import { defineConfig } from "vitest/config";

/** `npm run test:package`: installs and builds twice, so it is no part of `npm test`. */
export default defineConfig({
  test: {
    include: ["test/package/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 1_800_000, // installing takes a minute on a quiet machine, and `.ci/run` does much else meanwhile
  },
});
