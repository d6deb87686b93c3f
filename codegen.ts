import type { CodegenConfig } from "@graphql-codegen/cli";

/** Types the GraphQL operations of the dashboard and of the end-to-end tests from the committed schema. */
const config: CodegenConfig = {
  schema: "schema.graphql",
  documents: ["src/dashboard/**/*.{ts,tsx}", "test/**/*.test.ts"],
  ignoreNoDocuments: true,
  generates: {
    "src/generated/operations/": {
      preset: "client",
      presetConfig: { fragmentMasking: false },
      config: {
        useTypeImports: true,
        enumsAsTypes: true,
        scalars: { DateTime: "string", PathStep: "string | number" },
      },
    },
  },
  silent: true,
};

export default config;
