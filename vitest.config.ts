import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { useMemoryFolder } from "./test/support/run/memoryFolder.js";
import { nodeFlags } from "./test/support/run/nodeFlags.js";
import { findPrograms } from "./test/support/run/programs.js";
import { Spread } from "./test/support/run/spread.js";
import { type Tier, testFiles } from "./test/support/run/tiers.js";

const inPlaceOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const setups = (...names: string[]) => names.map((name) => `test/support/setups/${name}.setup.ts`);

/** The tests of a tier, by the engine that they run on: a project has one. */
function projectsOf(tier: Tier) {
  const { TEST_CHROMIUM: chromium = "", TEST_FIREFOX: firefox } = process.env;
  const postgresql = tier === "test" ? [] : ["migratedDatabase"];
  const onEmbedded = setups("build", "template", ...postgresql, "embedded", "statements");
  const embedded = {
    name: "embedded",
    include: testFiles(tier, "embedded"),
    globalSetup: onEmbedded,
    provide: { browser: { name: "chromium" as const, executablePath: chromium } },
  };
  if (tier === "test") return [embedded];
  const onPostgresql = {
    name: "postgresql",
    include: testFiles(tier, "postgresql"),
    globalSetup: setups("build", "template", ...postgresql, "postgresql", "statements"),
  };
  if (tier === "all" || firefox === undefined) return [embedded, onPostgresql];
  const inFirefox = {
    name: "firefox",
    include: ["test/browser/tracker/*.test.ts"], // what runs in pages of others: our own pages' tests need Chromium
    globalSetup: onEmbedded,
    provide: { browser: { name: "firefox" as const, executablePath: firefox } },
  };
  return [embedded, onPostgresql, inFirefox];
}

/** What a test may take, which needs a tenth of it: a start of a server or a browser takes seconds where others start, too. */
const timesMs = { test: 20_000, all: 60_000, long: 3_600_000 } as const;

/** `--mode all` and `--mode long` are the tiers beside that of `npm test`: see CONTRIBUTING.md. */
export default defineConfig(async ({ mode }) => {
  const tier: Tier = mode === "all" || mode === "long" ? mode : "test";
  process.env["TEST_TIER"] = tier;
  await useMemoryFolder();
  if (tier !== "test") findPrograms();
  const timeMs = timesMs[tier];
  return {
    resolve: {
      alias: [
        // Without these, graphql would be loaded twice, as ESM and as CommonJS, and refuse its own types.
        { find: /^graphql$/u, replacement: "graphql/index.js" },
        { find: "graphql-jit", replacement: createRequire(import.meta.url).resolve("graphql-jit") },
        { find: /^.*\/chunkRows\.js$/u, replacement: inPlaceOf("test/support/run/chunkRows.ts") },
        { find: /^.*\/lib\/threads\/thread\.js$/u, replacement: inPlaceOf("test/support/run/builtThread.ts") },
      ],
    },
    test: {
      pool: "forks",
      maxWorkers: tier === "test" ? 3 : 4, // some of a test is waiting, most of one with processes
      setupFiles: ["test/support/setups/properties.setup.ts"],
      execArgv: [...nodeFlags],
      isolate: false, // importing the service anew for each file would cost more than the tests
      testTimeout: timeMs,
      hookTimeout: timeMs,
      expect: { poll: { timeout: timesMs.test / 2 } },
      sequence: { sequencer: Spread },
      projects: projectsOf(tier).map((test) => ({ extends: true as const, mode, test })), // each evaluates this file anew
    },
  };
});
