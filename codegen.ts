import type { CodegenConfig } from "@graphql-codegen/cli";

const client = {
  preset: "client",
  presetConfig: { fragmentMasking: false },
  config: { useTypeImports: true, enumsAsTypes: true, scalars: { DateTime: "string", PathStep: "string | number" } },
} as const;

/** Types the GraphQL operations of the dashboard and of the end-to-end tests from the committed schema. */
const config: CodegenConfig = {
  schema: "schema.graphql",
  pluckConfig: { globalGqlIdentifierName: ["graphql", "typedGraphql"] }, // those of the dashboard are not formatted, so that leaves share a line
  ignoreNoDocuments: true,
  emitLegacyCommonJSImports: false, // imports with extensions
  generates: {
    "src/generated/dashboard/": {
      ...client,
      documents: ["src/dashboard/**/*.{ts,tsx}"],
      presetConfig: { ...client.presetConfig, gqlTagName: "typedGraphql" },
      config: { ...client.config, documentMode: "string" }, // the page sends text, and needs no parser
    },
    "src/generated/operations/": { ...client, documents: ["test/**/*.test.ts"] },
  },
  silent: true,
};

export default config;
