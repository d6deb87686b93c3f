import { defineConfig } from "oxlint";

/**
 * Imports point one way: main → cli → app → cluster, http → graphql, rest → execution → schema; app → features' schemas → schema;
 * features' functions → database → lib.
 */
const inward = (files, forbidden, message) => ({
  files,
  rules: { "no-restricted-imports": ["error", { patterns: [{ group: forbidden, message }] }] },
});

const features = ["access", "analytics", "catalog"];
const transports = ["schema", "execution", "graphql", "rest", "http", "telemetry", "cluster", "cli"];
const graphqlLibraries = ["graphql", "graphql/*", "@pothos/*", "graphql-yoga", "sofa-api"];
/** Patterns of imports from these folders of src, and of app.ts, which puts all of them together. */
const folders = (...names) => [...names.map((name) => `**/${name}/**`), "**/app.js"];

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { typeAware: true },
  ignorePatterns: ["dist/**", "src/generated/**"],
  jsPlugins: ["./scripts/linearPatterns.js", "./scripts/machineClock.js"],
  rules: {
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "no-console": "error",
    "node/no-process-env": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "typescript/consistent-type-imports": "error",
    eqeqeq: "error",
    complexity: ["error", 12],
    // Imported for its effect: a schema file registers its types on the builder.
    "import/no-unassigned-import": "off",
    "import/no-named-as-default-member": "off",
    // A cast stands where a guarantee is written beside it; the rule cannot read.
    "typescript/no-unsafe-type-assertion": "off",
    // Meant for windows; worker threads have no origin.
    "unicorn/require-post-message-target-origin": "off",
    "no-underscore-dangle": "off",
    // A copy with one thing changed is what is meant there.
    "oxc/no-map-spread": "off",
    "unicorn/consistent-function-scoping": "off",
    // Statements run one after the other on purpose: each needs what the one before did.
    "no-await-in-loop": "off",
  },
  overrides: [
    inward(
      ["src/lib/**"],
      [...graphqlLibraries, ...folders("database", ...features, ...transports)],
      "lib/ knows nothing of what the service is for.",
    ),
    inward(
      ["src/database/**"],
      [...graphqlLibraries, ...folders(...features, ...transports)],
      "The database layer knows no feature and no transport.",
    ),
    inward(
      features.map((name) => `src/${name}/**`),
      [...graphqlLibraries, ...folders(...transports)],
      "A feature's plain functions know no transport: they take the database first and throw AppError. GraphQL belongs into *.schema.ts.",
    ),
    inward(
      features.map((name) => `src/${name}/**/*.schema.ts`),
      ["graphql-yoga", "sofa-api", ...folders("execution", "graphql", "rest", "http", "telemetry", "cluster", "cli")],
      "A schema file knows its feature and the schema builder, and nothing of how requests arrive.",
    ),
    inward(["src/errors.ts"], ["*"], "errors.ts imports nothing, so that everything may import it."),
    inward(
      ["src/schema/**"],
      ["graphql-yoga", "sofa-api", ...folders("execution", "graphql", "rest", "http", "telemetry", "cluster", "cli")],
      "schema/ is what features build their part of the schema with: it does not know how operations run.",
    ),
    inward(
      ["src/api/execution/**"],
      ["graphql-yoga", "sofa-api", ...folders(...features, "graphql", "rest", "http", "telemetry", "cluster", "cli")],
      "execution/ runs any operation of either style: it knows no feature and no endpoint.",
    ),
    inward(
      ["src/api/graphql/**"],
      folders("rest", "http", "telemetry", "cluster", "cli"),
      "The GraphQL endpoint does not know how requests arrive.",
    ),
    inward(
      ["src/api/rest/**"],
      ["graphql-yoga", ...folders("graphql", "http", "telemetry", "cluster", "cli")],
      "REST knows how operations run, not the GraphQL endpoint or the server.",
    ),
    inward(
      ["src/server/telemetry/**"],
      folders("rest", "http", "cluster", "cli"),
      "Telemetry is notified of requests through schema/operationNames.ts and by the server; it depends on neither.",
    ),
    inward(
      ["src/server/cluster/**"],
      [...graphqlLibraries, ...folders("database", "schema", "execution", "graphql", "rest", "http", "cli")],
      "cluster/ connects workers with their primary: it carries what others give it, and serves no requests.",
    ),
    inward(
      ["src/dashboard/**"],
      [
        "node:*",
        "graphql",
        "graphql-yoga",
        "@pothos/*",
        "../app.js",
        "../../app.js",
        "**/config.js",
        "**/errors.js",
      ].concat([...features, ...transports, "database", "lib"].map((name) => `**/${name}/**`)),
      "The dashboard knows the API alone, as anybody's could: of src it imports types generated from the schema.",
    ),
    {
      files: ["src/tracker/**"],
      rules: {
        "no-restricted-imports": [
          "error",
          { patterns: [{ regex: "^(?!./)", message: "The tracker runs in pages of shops: it has no dependencies." }] },
        ],
      },
    },
    {
      // Closures cost the fewest bytes of a script that has 3 kB.
      files: ["src/tracker/**"],
      rules: { complexity: ["error", 14] },
    },
    {
      // They bundle what runs in browsers, and are no part of it.
      files: ["src/dashboard/vite.config.ts", "src/tracker/vite.config.ts"],
      rules: { "no-restricted-imports": "off" },
    },
    inward(["src/server/http/**"], folders("cluster", "cli"), "The server does not know who starts it."),
    {
      // Types of an observation, its trace and its summary still need each other.
      files: ["src/server/telemetry/**"],
      rules: { "import/no-cycle": ["error", { ignoreTypes: true }] },
    },
    {
      // The one reader of the environment, and scripts that run outside of the service.
      files: ["src/config.ts", "scripts/**", "test/**", "bench/**", "prisma/**", "*.ts"],
      rules: { "node/no-process-env": "off" },
    },
    {
      // A file is one subject that a reader opens once, however long; complexity stays bounded.
      files: ["src/cli/**", "src/dashboard/**"],
      rules: { "max-lines": "off", "max-lines-per-function": "off" },
    },
    { files: ["src/**"], rules: { "vitrine/linear-patterns": "error" } },
    {
      // Exempt is what waits for others, what runs in npm run test:long alone, and what has the machine's time as data.
      files: ["test/**"],
      rules: { "tests/machine-clock": "error" },
    },
    {
      // And what kills servers and breaks connections at random moments.
      files: ["test/support/{until,clock}.ts", "test/support/{run,setups}/**", "test/support/faults/{crash,breaks}.ts"],
      rules: { "tests/machine-clock": "off" },
    },
    {
      files: ["test/**", "bench/**", "scripts/**"],
      rules: {
        "typescript/no-explicit-any": "off",
        complexity: "off",
        "no-console": "off",
        "vitest/no-conditional-expect": "off",
        "vitest/expect-expect": ["error", { assertFunctionNames: ["expect*"] }],
        "vitest/no-restricted-vi-methods": [
          "error",
          { setConfig: "It would stay for later files of the same process." },
        ],
        "vitest/valid-expect": ["error", { maxArgs: 2 }], // the second is what is said when it fails
        "unicorn/consistent-function-scoping": "off",
      },
    },
  ],
});
