import SchemaBuilder from "@pothos/core";
import PrismaPlugin from "@pothos/plugin-prisma";
import { GraphQLError } from "graphql";
import type { RootDatabase } from "../database/client.js";
import type PrismaTypes from "../generated/pothos.js";
import { getDatamodel } from "../generated/pothos.js";
import { dateTimeName, parseDateTime } from "../lib/dateTime.js";
import { mustBe } from "../lib/mustBe.js";
import type { Context } from "./context.js";

/** The first version deprecated siteId and siteType. */
const sitesDeprecatedAt = new Date(Date.UTC(2026, 10, 21));

interface VitrineTypes {
  PrismaTypes: PrismaTypes;
  Context: Context;
  DefaultFieldNullability: false;
  DefaultInputFieldRequiredness: true;
  Scalars: {
    DateTime: { Input: Date; Output: Date };
    PathStep: { Input: never; Output: string | number };
  };
}

/** `*.schema.ts` files register their types here; api/graphql/schema.ts builds the schema. */
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

builder.queryType({
  description: "Reads. A field that fails is null, with an error beside it; the others keep their data.",
});
builder.mutationType({
  description:
    "Changes, made one after the other. A field that fails is null, with an error beside it; the others go on.",
});
builder.subscriptionType({
  description: "Values that are sent as they change, as server-sent events or by the multipart protocol.",
});

builder.scalarType("DateTime", {
  description:
    "A moment in time: RFC 3339, any time zone in, UTC with milliseconds out, as in `2026-05-04T18:30:00.000Z`.",
  specifiedByURL: "https://www.rfc-editor.org/rfc/rfc3339",
  extensions: {
    isValid: (value: unknown) => typeof value === "string" && parseDateTime(value) !== undefined,
    valueName: dateTimeName,
  },
  serialize: (moment) => moment.toISOString(),
  parseValue: (value) => {
    const moment = typeof value === "string" ? parseDateTime(value) : undefined;
    if (moment !== undefined) return moment;
    throw new GraphQLError(mustBe("DateTime", dateTimeName, value));
  },
});

builder.scalarType("PathStep", {
  description: "A step from the input's root to a place in it: the name of a field, or the index of an item.",
  extensions: { isValid: (value: unknown) => typeof value === "string" || Number.isInteger(value) },
  serialize: (step) => step,
});

interface SiteArguments {
  readonly siteId?: string | null | undefined;
  readonly siteType?: string | null | undefined;
}

/** Reports a call with deprecated arguments. Empty ones count as not given. */
export function noteSiteUse({ siteId, siteType }: SiteArguments, { notify }: Pick<Context, "notify">): void {
  if (siteId || siteType) notify({ kind: "deprecated", at: sitesDeprecatedAt });
}

/** The values of an enum type, from the description of each. */
export function enumValues<Value extends string>(
  descriptions: Readonly<Record<Value, string>>,
): Record<Value, { readonly description: string }> {
  const entries = Object.entries(descriptions).map(([value, description]) => [value, { description }]);
  return Object.fromEntries(entries) as Record<Value, { readonly description: string }>;
}
