import { defineConfig } from "oxlint";

/** Imports point one way: main → cli → app → http, rest, graphql → features' schemas → features' functions → database. */
const inward = (files, forbidden, message) => ({
  files,
  rules: { "no-restricted-imports": ["error", { patterns: [{ group: forbidden, message }] }] },
});

export default defineConfig({
  plugins: ["typescript", "unicorn", "oxc", "import", "promise", "node", "vitest"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { typeAware: true },
  ignorePatterns: ["dist/**", "src/generated/**"],
  rules: {
    "import/no-cycle": "error",
    "no-console": "error",
    "node/no-process-env": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    "typescript/consistent-type-imports": "error",
    eqeqeq: "error",
    "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
    "max-lines": ["error", { max: 220, skipBlankLines: true, skipComments: true }],
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
      ["src/catalog/**", "src/analytics/**", "src/access/**"],
      [
        "graphql",
        "graphql/*",
        "@pothos/*",
        "graphql-yoga",
        "sofa-api",
        "**/graphql/**",
        "**/rest/**",
        "**/http/**",
        "**/telemetry/**",
        "**/cli/**",
        "**/app.js",
      ],
      "A feature's plain functions know no transport: they take the database first and throw AppError. GraphQL belongs into *.schema.ts.",
    ),
    inward(
      ["src/catalog/*.schema.ts", "src/analytics/*.schema.ts"],
      ["graphql-yoga", "sofa-api", "**/rest/**", "**/http/**", "**/telemetry/**", "**/cli/**", "**/app.js"],
      "A schema file knows its feature and the schema builder, and nothing of how requests arrive.",
    ),
    inward(
      ["src/database/**"],
      [
        "graphql",
        "graphql/*",
        "@pothos/*",
        "graphql-yoga",
        "sofa-api",
        "**/catalog/**",
        "**/analytics/**",
        "**/access/**",
        "**/graphql/**",
        "**/rest/**",
        "**/http/**",
        "**/telemetry/**",
        "**/cli/**",
        "**/app.js",
      ],
      "The database layer knows no feature and no transport.",
    ),
    inward(["src/errors.ts"], ["*"], "errors.ts imports nothing, so that everything may import it."),
    inward(
      ["src/graphql/**"],
      ["**/rest/**", "**/http/**", "**/telemetry/**", "**/cli/**", "**/app.js"],
      "GraphQL does not know how requests arrive.",
    ),
    inward(
      ["src/rest/**"],
      ["**/http/**", "**/telemetry/**", "**/cli/**", "**/app.js", "graphql-yoga"],
      "REST knows the pipeline of graphql/, not the server.",
    ),
    inward(
      ["src/telemetry/**"],
      ["**/rest/**", "**/http/**", "**/cli/**", "**/app.js"],
      "What is told of a request comes by graphql/observation.ts and from the server; telemetry asks neither.",
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
      ].concat(
        ["access", "analytics", "catalog", "cli", "database", "graphql", "http", "rest", "telemetry"].map(
          (name) => `**/${name}/**`,
        ),
      ),
      "The dashboard knows the API alone, as anybody's could: of src it imports types generated from the schema.",
    ),
    {
      // Bundles the page, and is no part of it.
      files: ["src/dashboard/vite.config.ts"],
      rules: { "no-restricted-imports": "off" },
    },
    inward(["src/http/**"], ["**/cli/**", "**/app.js"], "The server does not know who starts it."),
    {
      // The one reader of the environment, and scripts that run outside of the service.
      files: ["src/config.ts", "scripts/**", "test/**", "bench/**", "prisma/**", "*.ts"],
      rules: { "node/no-process-env": "off" },
    },
    {
      files: ["test/**", "bench/**", "scripts/**"],
      rules: {
        "typescript/no-explicit-any": "off",
        "max-lines-per-function": "off",
        "max-lines": ["error", { max: 320, skipBlankLines: true, skipComments: true }],
        "no-console": "off",
        "vitest/no-conditional-expect": "off",
        "vitest/valid-expect": ["error", { maxArgs: 2 }], // the second is what is said when it fails
        "unicorn/consistent-function-scoping": "off",
      },
    },
  ],
});
