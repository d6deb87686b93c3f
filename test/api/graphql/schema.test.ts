import { readFile } from "node:fs/promises";
import {
  getNullableType,
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
  printSchema,
} from "graphql";
import { describe, expect, test } from "vitest";
import { schema } from "../../../src/api/graphql/schema.js";
import { restRoutes } from "../../../src/api/rest/routes/routes.js";

interface Described {
  readonly description?: string | null | undefined;
  readonly deprecationReason?: string | null | undefined;
}

/** All that can have a description, but for what GraphQL itself defines. */
function elementsOf(within: GraphQLSchema): [name: string, element: Described][] {
  const own = Object.values(within.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  return own.flatMap((type): [string, Described][] => {
    const fields =
      "getFields" in type ? Object.values<GraphQLField<unknown, unknown> | GraphQLInputField>(type.getFields()) : [];
    const values = isEnumType(type) ? type.getValues() : [];
    const args = fields.flatMap((field) =>
      "args" in field ? field.args.map((argument) => ({ field, argument })) : [],
    );
    return [
      [type.name, type],
      ...[...fields, ...values].map((element): [string, Described] => [`${type.name}.${element.name}`, element]),
      ...args.map(({ field, argument }): [string, Described] => [
        `${type.name}.${field.name}(${argument.name})`,
        argument,
      ]),
    ];
  });
}

describe("the schema", () => {
  const sdl = printSchema(schema)
    .replaceAll(/ *"""[\s\S]*?"""\n/gu, "")
    .replaceAll(/\n{2,}/gu, "\n");
  const deprecated = `@deprecated(reason: "Products belong to the store; omit the site.")`;
  const site = `siteId: String ${deprecated} siteType: String ${deprecated}`;

  const modes = "mode: ImportMode = UPSERT maxDeletions: Int";
  const policy = "errorPolicy: ImportErrorPolicy = REJECT_ALL dryRun: Boolean = false";

  test.each([
    `product( productId: String! ${site} ): Product`,
    "products( first: Int = 20 after: String search: String available: Boolean priceMin: Float priceMax: Float siteId: String ids: [ID!] orderBy: ProductOrder! = ID direction: SortDirection ): ProductConnection",
    `importProduct( product: ProductInput! ${site} ${modes} ${policy} ): ProductImport`,
    `importProducts( products: [ProductInput!]! ${site} ${modes} ${policy} ): ProductImport`,
    `importProductsCsv( csvContent: String! ${site} ${modes} ${policy} ): ProductImport`,
    `patchProducts( products: [ProductPatchInput!]! ${site} ${policy} ): ProductImport`,
    `deleteProduct( productId: String! ${site} ): ProductDeletion`,
    "type ProductImport { message: String! imported: Int! created: Int! updated: Int! deleted: Int! failed: Int! failures: [ProductImportFailure!]! }",
    "type ProductDeletion { id: ID! message: String! }",
    "type ChannelCounts { live: Int! replay: Int! referral: Int! total: Int! }",
    "createdAt: DateTime! updatedAt: DateTime! performance( from: DateTime until: DateTime ): ProductPerformance }",
  ])("has %.60s", (part) => {
    expect(sdl.replaceAll(/\s+/gu, " ")).toContain(part);
  });

  test("has ids of objects as ID in what is read, and as String in what is sent", () => {
    const types = Object.values(schema.getTypeMap());
    const typesOf = (fields: readonly (GraphQLArgument | GraphQLField<unknown, unknown> | GraphQLInputField)[]) =>
      fields.filter(({ name }) => /^id$|Id$/u.test(name)).map(({ type }) => String(getNullableType(type)));
    const objects = types.filter(isObjectType).filter(({ name }) => name !== "ProductImportFailure"); // has what was sent
    const fields = objects.flatMap((type) => Object.values(type.getFields()));
    const inputs = types.filter(isInputObjectType).flatMap((type) => Object.values(type.getFields()));
    expect(new Set(typesOf(fields))).toEqual(new Set(["ID"]));
    expect(new Set(typesOf([...fields.flatMap(({ args }) => args), ...inputs]))).toEqual(new Set(["String"]));
  });

  test("describes every type, field, argument and value", () => {
    const bare = elementsOf(schema).filter(([, { description }]) => !/\S.*\.$/su.test(description ?? ""));
    expect(bare.map(([name]) => name)).toEqual([]);
  });

  test("says of what is deprecated what to do instead", () => {
    const marked = elementsOf(schema).filter(([, { deprecationReason }]) => typeof deprecationReason === "string");
    expect(marked.length).toBeGreaterThan(0);
    const unclear = marked.filter(([, { deprecationReason }]) => !/\b(?:use|omit)\b/iu.test(deprecationReason ?? ""));
    expect(unclear.map(([name]) => name)).toEqual([]);
  });

  test("is the one in schema.graphql, which npm run schema writes", async () => {
    const text = await readFile(new URL("../../../schema.graphql", import.meta.url), "utf8");
    // In any order: other test files may have loaded the modules in another one.
    const definitions = (sdlText: string) =>
      sdlText
        .trim()
        .split(/\n\n(?=\S)/u)
        .toSorted();
    expect(definitions(text)).toEqual(definitions(printSchema(schema)));
  });

  test("is read over REST: each field of Query has a path", () => {
    const read = restRoutes.filter(({ root }) => root === "Query").map(({ operation }) => operation);
    expect([...new Set(read)].toSorted()).toEqual(Object.keys(schema.getQueryType()?.getFields() ?? {}).toSorted());
  });

  test("is written over REST: each field of Mutation has a path, but for what came after the documented ones", () => {
    const written = new Set(restRoutes.filter(({ root }) => root === "Mutation").map(({ operation }) => operation));
    const fields = Object.keys(schema.getMutationType()?.getFields() ?? {});
    const others = fields.filter((name) => !written.has(name)).toSorted();
    expect(others).toEqual(["deleteLiveStream", "eraseViewer", "patchProducts"]);
  });
});
