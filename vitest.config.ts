import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { onEmbeddedOnly } from "./test/support/run/engines.js";
import { useMemoryFolder } from "./test/support/run/memoryFolder.js";
import { nodeFlags } from "./test/support/run/nodeFlags.js";
import { sharedForks } from "./test/support/run/sharedForks.js";
import { Spread } from "./test/support/run/spread.js";

const { TEST_DATABASE_URL, TEST_CHROMIUM, TEST_FIREFOX, TEST_SOAK_MINUTES, TEST_RETRIES = "0" } = process.env;
await useMemoryFolder();

const inPlaceOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const setups = (...names: string[]) => names.map((name) => `test/support/setups/${name}.setup.ts`);
const postgresql = TEST_DATABASE_URL === undefined ? [] : ["migratedDatabase"];
const onEmbedded = setups("build", "template", ...postgresql, "embedded", "statements");
const exclude = ["test/package/**", ...(TEST_SOAK_MINUTES === undefined ? ["test/soak/**"] : [])];
const inBrowser = "test/browser/**"; // one engine does
const embedded = {
  name: "embedded",
  globalSetup: onEmbedded,
  ...(TEST_CHROMIUM === undefined
    ? { exclude: [...exclude, inBrowser] }
    : { exclude, provide: { browser: { name: "chromium" as const, executablePath: TEST_CHROMIUM } } }),
};
const projects = [
  embedded,
  TEST_DATABASE_URL !== undefined && {
    name: "postgresql",
    globalSetup: setups("build", ...postgresql, "postgresql", "statements"),
    exclude: [...exclude, inBrowser, ...onEmbeddedOnly()],
  },
  TEST_FIREFOX !== undefined && {
    name: "firefox",
    include: ["test/browser/tracker/*.test.ts"], // what runs in pages of others: our own pages' tests need Chromium
    provide: { browser: { name: "firefox" as const, executablePath: TEST_FIREFOX } },
    globalSetup: onEmbedded,
  },
].filter((project) => project !== false);

/** The same tests on each engine, and in each browser, of which the environment has one. */
export default defineConfig({
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
    include: ["test/**/*.test.ts"],
    pool: sharedForks,
    maxWorkers: 4, // some of a test is waiting
    setupFiles: ["test/support/setups/properties.setup.ts"],
    execArgv: [...nodeFlags],
    isolate: false, // importing the service anew for each file would cost more than the tests
    testTimeout: 300_000, // a hang is found all the same, and a busy machine is no failure
    hookTimeout: 300_000,
    retry: Number(TEST_RETRIES), // in CI once, and the output says so
    expect: { poll: { timeout: 120_000 } }, // as long as `until` waits where two processes want each core
    sequence: { sequencer: Spread },
    experimental: { fsModuleCache: true }, // projects do not share what they transform otherwise
    projects: projects.map((test) => ({ extends: true, test })),
  },
});
