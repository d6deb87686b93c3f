import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { makeMemoryFolder } from "./test/support/memoryFolder.js";
import { nodeFlags } from "./test/support/nodeFlags.js";
import { sharedForks } from "./test/support/sharedForks.js";

const memoryFolder = process.env["TMPDIR"] === undefined ? await makeMemoryFolder() : undefined;
if (memoryFolder !== undefined) process.env["TMPDIR"] = memoryFolder; // for workers and what they start

const testDatabaseUrl = process.env["TEST_DATABASE_URL"];
const testChromium = process.env["TEST_CHROMIUM"];
const testFirefox = process.env["TEST_FIREFOX"];

/** For tests that start processes: dist/, and a database for them to copy. */
const forProcesses = ["test/support/build.setup.ts", "test/support/template.setup.ts"];

/** The same on PostgreSQL, once dist/ is there. */
const forPostgresql = testDatabaseUrl === undefined ? [] : ["test/support/migratedDatabase.setup.ts"];

/** At the end of a project, over all that its tests sent to the database. */
const checksStatements = "test/support/citus/statements.setup.ts";

const beforeEmbedded = [...forProcesses, ...forPostgresql, "test/support/embedded.setup.ts", checksStatements];

const shared = {
  include: ["test/**/*.test.ts"],
  // npm run test:package, npm run test:soak
  exclude: ["test/package/**", ...(process.env["TEST_SOAK_MINUTES"] === undefined ? ["test/soak/**"] : [])],
  pool: sharedForks,
  maxWorkers: 4, // some of a test is waiting
  setupFiles: ["test/support/properties.setup.ts"],
  execArgv: [...nodeFlags],
  isolate: false, // importing the service anew for each file would cost more than the tests
  // A hang is found all the same, and a busy machine is no failure.
  testTimeout: 300_000,
  // CI tries a failed test once more, and the output says so; elsewhere one failure is one.
  retry: Number(process.env["TEST_RETRIES"] ?? 0),
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } }, // as long as `until` waits
};

/** Tests of processes: they take long, and use little of the embedded engines that files share. */
const ofProcesses = /\/test\/process\//u;
/** Tests that wait for seconds: for a time limit, a token to be looked up again, or a client that is slow. */
const waiting =
  /\/(?:slow\w+|stream|sweeps|token|ended\/(?:requests|writes|tokenEnds)|forStore|busyEngine|collect|bodyBudget|export\/export|live|database\/limits|shows\/locks|citus\/moves|dashboard\/proxy|tracker\/(?:tracker|network)|(?:event|multipart)Stream|feed\.shared|stores|embedded\/readiness|outage|contention|migrate\.locks|unreachableNodes|nodeStates)\.test\.ts$/u;

/** The part of all other files among which files are spread: the last files to run must be short. */
const spreadOver = 0.9;

function divide(files: readonly TestSpecification[], by: RegExp): [TestSpecification[], TestSpecification[]] {
  const isOf = ({ moduleId }: TestSpecification) => by.test(moduleId);
  return [files.filter(isOf), files.filter((file) => !isOf(file))];
}

/** Spreads files among others at equal distances. */
function spread(files: readonly TestSpecification[], others: readonly TestSpecification[]): TestSpecification[] {
  const step = (spreadOver * others.length) / files.length;
  return files
    .flatMap((file, index) => [file, ...others.slice(Math.floor(index * step), Math.floor((index + 1) * step))])
    .concat(others.slice(Math.floor(files.length * step)));
}

/**
 * At any time some tests use the shared engines, which have one thread each, and some do not; and no two wait: so both cores are
 * used. Projects run one after the other, so that a process goes from one to the next once.
 */
class Spread extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- of the sequencer, not of an array
    const sorted = await super.sort(files); // by project
    const projects = [...new Set(sorted.map(({ project }) => project))];
    return projects.flatMap((each) => spreadOne(sorted.filter(({ project }) => project === each)));
  }
}

/** @param files the longest first */
function spreadOne(files: readonly TestSpecification[]): TestSpecification[] {
  const [waits, works] = divide(files, waiting);
  const [processes, others] = divide(works, ofProcesses);
  return spread(mixLengths(waits), spread(mixLengths(processes), mixLengths(others)));
}

/** Long files alternate with short ones, so that equal distances in the list are about equal times. */
function mixLengths(files: readonly TestSpecification[]): TestSpecification[] {
  const half = Math.ceil(files.length / 2);
  const short = files.slice(half).toReversed();
  return files.slice(0, half).flatMap((file, index) => [file, ...short.slice(index, index + 1)]);
}

/** Tests of the pages, in a browser; one engine does. */
const inBrowser = "test/browser/**";

/**
 * Tests of the program as a process, of the embedded engine itself, and of what is the same on any database: parsing and
 * validation, HTTP, limits, pages. What reads or writes through SQL, or locks, runs on each engine.
 */
const onEmbeddedOnly = [
  "test/soak/**",
  "test/process/**",
  "test/cli/**",
  "test/dashboard/**",
  "test/execution/**",
  "test/http/!(health|pages)*.test.ts",
  "test/http/{content,proxies,server}/**",
  "test/graphql/!(disconnect)*.test.ts",
  "test/fuzz/{csv,graphql,http}.test.ts",
  "test/hostile/**",
  "test/errors/{payload,routes,subscription}.test.ts",
  "test/analytics/**/{events.invalid,feed.shared,shows.invalid}.test.ts",
  "test/analytics/**/{events.partitions,idBytes,kpis.fields,netSales}.test.ts",
  "test/catalog/{fields.docs,invalid,invalid.*,limits,urls}.test.ts",
  "test/telemetry/accessLog.test.ts",
  "test/scale/statements.rules.test.ts",
  "test/lib/{dateTime,fairShare,mustBe,redis}.test.ts",
  "test/lib/{json,streams}/**",
  "test/rest/**",
  "test/access/{identity,rateLimit*,stream}.test.ts",
  "test/catalog/csv/**",
  "test/catalog/formats/!(rest)*.test.ts",
  "test/catalog/formats/values/**",
  "test/catalog/import/steps.test.ts",
  "test/database/{citus/nodes,batchLookups,lockWait}.test.ts",
  "test/docsPaths.test.ts",
  "test/supplyChain.test.ts",
];

/**
 * The same tests on each engine: always on the embedded one, and on PostgreSQL where TEST_DATABASE_URL names a server. And
 * those in a browser, where TEST_CHROMIUM names one; those of the tracker also where TEST_FIREFOX does.
 */
export default defineConfig({
  // Without this, graphql would be loaded twice, as ESM and as CommonJS, and refuse its own types.
  resolve: {
    alias: [
      { find: /^graphql$/u, replacement: "graphql/index.js" },
      { find: "graphql-jit", replacement: createRequire(import.meta.url).resolve("graphql-jit") },
      {
        find: /^.*\/chunkRows\.js$/u,
        replacement: fileURLToPath(new URL("test/support/chunkRows.ts", import.meta.url)),
      },
      {
        find: /^.*\/lib\/threads\/thread\.js$/u,
        replacement: fileURLToPath(new URL("test/support/builtThread.ts", import.meta.url)),
      },
    ],
  },
  test: {
    sequence: { sequencer: Spread },
    experimental: { fsModuleCache: true }, // projects do not share what they transform otherwise
    projects: [
      {
        extends: true,
        test: {
          ...shared,
          name: "embedded",
          globalSetup: beforeEmbedded,
          // Not a project of their own, whose workers would import the service once more.
          ...(testChromium === undefined
            ? { exclude: [...shared.exclude, inBrowser] }
            : { provide: { browser: { name: "chromium" as const, executablePath: testChromium } } }),
        },
      },
      ...(testDatabaseUrl === undefined
        ? []
        : [
            {
              extends: true as const,
              test: {
                ...shared,
                name: "postgresql",
                globalSetup: [
                  "test/support/build.setup.ts",
                  ...forPostgresql,
                  "test/support/postgresql.setup.ts",
                  checksStatements,
                ],
                exclude: [...shared.exclude, inBrowser, ...onEmbeddedOnly],
              },
            },
          ]),
      ...(testFirefox === undefined
        ? []
        : [
            {
              extends: true as const,
              test: {
                ...shared,
                name: "firefox",
                include: ["test/browser/tracker/*.test.ts"], // what runs in pages of others: our own pages' tests need Chromium
                provide: { browser: { name: "firefox" as const, executablePath: testFirefox } },
                globalSetup: beforeEmbedded,
              },
            },
          ]),
    ],
  },
});
