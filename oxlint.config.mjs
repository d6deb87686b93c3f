import { defineConfig } from "oxlint";

/** The rooms of src. Imports point from the top of this list to its bottom; app.ts puts all below cli together. */
const rooms = [
  { name: "cli", sentence: "Nothing imports the command line but main.ts." },
  { name: "server", sentence: "The server receives requests, and does not know who starts it." },
  { name: "api", sentence: "The API runs operations in both styles, and does not know how requests arrive." },
  { name: "orders", sentence: "Orders know events and figures, and no way by which they are asked for." },
  { name: "figures", sentence: "Figures are made of events. What orders add to them stands in orders/." },
  { name: "events", sentence: "Events are recorded for shows. Who reads them is above." },
  { name: "shows", sentence: "Shows know nothing of what happens in them." },
  { name: "catalog", sentence: "The catalog takes rows from files/, and knows no show." },
  { name: "files", sentence: "Files turn bytes into rows of products, wherever they are stored." },
  { name: "stores", sentence: "Stores have tokens, keys and limits. What else they have refers to them." },
  {
    name: "schema",
    sentence: "The schema builder is what features define their part of the schema with: it knows none of them.",
  },
  { name: "database", sentence: "The database layer knows no feature and no transport." },
  { name: "lib", sentence: "lib/ knows nothing of what the service is for." },
];
const graphqlLibraries = ["graphql", "graphql/*", "@pothos/*", "graphql-yoga", "sofa-api"];
const features = new Set(["orders", "figures", "events", "shows", "catalog", "files", "stores"]);

const refusing = (files, forbidden, message) => ({
  files,
  rules: { "no-restricted-imports": ["error", { patterns: [{ group: forbidden, message }] }] },
});

/** What a room may not import: the rooms above it, app.ts, the pages' code, and libraries of a way to ask. */
function ruleOf({ name, sentence }, index) {
  const above = rooms.slice(0, index).map((room) => `**/${room.name}/**`);
  const forbidden = [
    ...above,
    "**/main.js",
    ...(name === "cli" ? [] : ["**/app.js"]),
    "**/dashboard/**",
    "**/tracker/**",
  ];
  const libraries = { api: [], server: ["sofa-api"], cli: [], schema: ["graphql-yoga", "sofa-api"] }[name];
  const rule = refusing([`src/${name}/**`], [...forbidden, ...(libraries ?? graphqlLibraries)], sentence);
  if (!features.has(name)) return [rule];
  // Of a feature, only these files know GraphQL: its functions take the database first, and throw AppError.
  return [rule, refusing([`src/${name}/**/*.schema.ts`], [...forbidden, "graphql-yoga", "sofa-api"], sentence)];
}

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
    ...rooms.flatMap(ruleOf),
    refusing(["src/errors.ts"], ["*"], "errors.ts imports nothing, so that everything may import it."),
    refusing(
      ["src/dashboard/**"],
      [
        ...rooms.map(({ name }) => `**/${name}/**`),
        "**/tracker/**",
        "**/app.js",
        "**/config.js",
        "**/errors.js",
        "node:*",
        "graphql",
        "graphql-yoga",
        "@pothos/*",
      ],
      "The dashboard knows the API alone, as anybody's could: of src it imports types generated from the schema.",
    ),
    {
      files: ["src/tracker/**"],
      rules: {
        "no-restricted-imports": [
          "error",
          {
            patterns: [
              { regex: "^([^.]|[.][.])", message: "The tracker runs in pages of shops: it has no dependencies." },
            ],
          },
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
