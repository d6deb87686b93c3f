import SchemaBuilder from "@pothos/core";
import PrismaPlugin from "@pothos/plugin-prisma";
import type PrismaTypes from "../generated/pothos.js";
import { getDatamodel } from "../generated/pothos.js";
import type { RootDatabase } from "../database/client.js";
import type { Context } from "./context.js";

interface VitrineTypes {
  PrismaTypes: PrismaTypes;
  Context: Context;
  DefaultFieldNullability: false;
  DefaultInputFieldRequiredness: true;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    /** Only given, never taken. */
    PathStep: { Input: never; Output: string | number };
  };
}

/** The one schema builder. Types register themselves on it; graphql/schema.ts turns it into a schema. */
export const builder = new SchemaBuilder<VitrineTypes>({
  plugins: [PrismaPlugin],
  defaultFieldNullability: false,
  defaultInputFieldRequiredness: true,
  prisma: {
    client: ({ db }: { db: RootDatabase }) => db,
    dmmf: getDatamodel(),
    onUnusedQuery: null,
  },
});

builder.queryType({});
builder.mutationType({});
builder.subscriptionType({});
