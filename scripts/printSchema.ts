import { writeFile } from "node:fs/promises";
import { printSchema } from "graphql";
import { schema } from "../src/api/graphql/schema.js";

// Writes schema.graphql in the repository root; a test fails when it differs from the code.
await writeFile(new URL("../schema.graphql", import.meta.url), `${printSchema(schema)}\n`);
