import { defineConfig } from "vitest/config";

/** `npm run test:package`: installs and builds twice, so it is no part of `npm test`. */
export default defineConfig({
  test: { include: ["test/package/**/*.test.ts"], testTimeout: 120_000, hookTimeout: 600_000 },
});
