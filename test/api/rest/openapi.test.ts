import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, test } from "vitest";
import { productFieldNames, productFields } from "../../../src/files/product/product.fields.js";
import { checkProduct } from "../../../src/files/product/product.input.js";
import { Problems } from "../../../src/errors.js";
import { exportRoutes } from "../../../src/api/rest/exports/export.routes.js";
import { restBase } from "../../../src/api/rest/routes/route.js";
import { documentedFields } from "../../../src/api/rest/routes/routes.contract.js";
import { restRoutes } from "../../../src/api/rest/routes/routes.js";
import {
  openDocumentedApp,
  type Document,
  examplesOf,
  faultFinder,
  operationsOf,
  resolved,
} from "../../support/http/openapi.js";

const { app, document, operationAt } = await openDocumentedApp();

const postPaths = ["/external/product/v1", "/external/product/v1/bulk", "/external/product/v1/bulk/csv"];
const productPath = "/external/product/v1/{productId}";
const isExport = ({ operationId }: Document) => exportRoutes.some((route) => route.operationId === operationId);
const mediaTypeOf = ({ responses }: Document) => Object.keys(responses[200].content).join();
describe("the document", () => {
  test("is valid OpenAPI 3.1, and open to everybody", async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    expect(document).toMatchObject({
      openapi: "3.1.0",
      info: {
        title: expect.any(String),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/u),
        license: { identifier: "MIT" },
      },
      servers: [{ url: app.url }],
    });
  });

  test("contains every documented path and method, and nothing else", () => {
    const documented = operationsOf(document).map(({ method, path }) => `${method} ${path}`);
    const served = restRoutes.map(({ method, path }) => `${method} ${restBase}${path.replaceAll(/:(\w+)/gu, "{$1}")}`);
    const exported = exportRoutes.map(({ path }) => `GET ${restBase}${path}`);
    expect(documented.toSorted()).toEqual([...served, ...exported].toSorted());
    expect(documented).toEqual(
      expect.arrayContaining([
        ...postPaths.map((path) => `POST ${path}`),
        `GET ${productPath}`,
        `DELETE ${productPath}`,
      ]),
    );
  });

  test("gives each operation a unique id, a description, and a listed tag", () => {
    const operations = operationsOf(document).map(({ operation }) => operation);
    const ids = operations.map(({ operationId }): string => operationId);
    expect(ids.toSorted()).toEqual([...restRoutes, ...exportRoutes].map(({ operationId }) => operationId).toSorted());
    expect(new Set(ids).size).toBe(ids.length);
    // Generated clients name their functions after these: they never change, and a name of this page that is gone was one.
    const page = readFileSync(new URL("../../../docs/pages.md", import.meta.url), "utf8");
    const named = new Set([...page.matchAll(/`(\w+)`/gu)].map(([, name]) => name));
    expect(ids.filter((id) => !named.has(id))).toEqual([]);
    const tags = document["tags"].map(({ name }: Document) => name);
    for (const operation of operations) {
      expect(operation).toMatchObject({
        summary: expect.stringMatching(/./u),
        description: expect.stringMatching(/./u),
      });
      expect(tags).toEqual(expect.arrayContaining(operation["tags"]));
    }
  });

  test("requires the access token's header everywhere", () => {
    expect(document["components"].securitySchemes).toEqual({
      accessToken: { type: "apiKey", in: "header", name: "X-Service-Access-Token", description: expect.any(String) },
    });
    expect(document["security"]).toEqual([{ accessToken: [] }]);
    for (const { operation } of operationsOf(document)) expect(operation).not.toHaveProperty("security");
  });

  test("marks siteId and siteType deprecated: in the query, and in a body", () => {
    for (const method of ["GET", "DELETE"]) {
      expect(operationAt(method, productPath)["parameters"]).toMatchObject([
        { name: "productId", in: "path", required: true, schema: { type: "string" } },
        { name: "siteId", in: "query", required: false, deprecated: true, schema: { default: "" } },
        { name: "siteType", in: "query", required: false, deprecated: true, schema: { default: "" } },
      ]);
    }
    for (const [path, own] of Object.entries({ "": "product", "/bulk": "products", "/bulk/csv": "csvContent" })) {
      const { requestBody } = operationAt("POST", `/external/product/v1${path}`);
      expect(requestBody.required).toBe(true);
      const { anyOf } = resolved(document, requestBody.content["application/json"].schema);
      const site = { type: ["string", "null"], deprecated: true };
      for (const schema of anyOf) {
        const [mode] = schema.properties.mode.enum;
        const required = mode === "UPSERT" ? [own] : ["mode", own];
        expect(schema).toMatchObject({ type: "object", required, additionalProperties: false });
        const ofReplace = mode === "REPLACE" ? ["maxDeletions"] : [];
        const names = ["siteId", "siteType", "mode", ...ofReplace, "errorPolicy", "dryRun", own];
        expect(Object.keys(schema.properties)).toEqual(names);
        expect(schema.properties).toMatchObject({ siteId: site, siteType: site });
      }
      expect(anyOf.map(({ properties }: Document) => properties.mode.enum)).toEqual([
        ["UPSERT", null],
        ["REPLACE"],
        ["PATCH"],
      ]);
    }
  });

  test("has the parameters beside a file, of which tools that fill them in send none but empty sites", () => {
    const ofMode = ["siteId", "siteType", "mode", "maxDeletions", "errorPolicy", "dryRun"];
    const ofFormat = ["format", "urlTemplate", "delimiter", "encoding", "map", "default", "fillDown"];
    for (const [path, names] of Object.entries({ "": [], "/bulk": ofMode, "/bulk/csv": [...ofMode, ...ofFormat] })) {
      const { parameters } = operationAt("POST", `/external/product/v1${path}`);
      expect(parameters.map(({ name }: Document) => name)).toEqual(names);
      for (const parameter of parameters) {
        expect(parameter).toMatchObject({ in: "query", required: false, description: expect.stringMatching(/file/u) });
        expect(parameter).not.toHaveProperty("example");
        const isSite = ["siteId", "siteType"].includes(parameter.name);
        expect([parameter.name, parameter.schema.default]).toEqual([parameter.name, isSite ? "" : undefined]);
      }
    }
  });

  test("describes optional headers in words, since tools that fill in parameters would send them with each call", () => {
    for (const { operation, method, path } of operationsOf(document)) {
      const { parameters, description } = operation;
      expect(parameters.filter((parameter: Document) => parameter["in"] === "header")).toEqual([]);
      expect([path, description.includes("`Idempotency-Key`")]).toEqual([
        path,
        postPaths.includes(path) && method === "POST",
      ]);
      const hasTag = (method === "GET" && !isExport(operation)) || method === "PUT" || method === "DELETE";
      expect([path, description.includes("`If-None-Match`")]).toEqual([path, hasTag]);
      expect([path, "412" in operation["responses"]]).toEqual([path, method === "PUT" || method === "DELETE"]);
    }
  });

  test("has the documented fields in their order, and no schemas of the operations themselves", () => {
    const { schemas } = document["components"];
    expect(Object.keys(schemas.Product.properties)).toEqual(documentedFields["Product"]);
    expect(Object.keys(schemas.ProductInput.properties)).toEqual(productFieldNames);
    expect(schemas.ProductInput.required).toEqual(productFieldNames.filter((name) => productFields[name].required));
    expect(schemas).not.toHaveProperty("Query");
    expect(schemas).not.toHaveProperty("Mutation");
  });

  test("names every enum and every body, so that clients have one type of each", () => {
    const isEnum = (part: any): boolean => part?.type === "string" && Array.isArray(part.enum) && part.enum.length > 1;
    const partsOf = (part: any): any[] =>
      typeof part === "object" && part !== null ? [part, ...Object.values(part).flatMap(partsOf)] : [];
    const { schemas } = document["components"];
    const named = new Set(Object.values<Document>(schemas).filter(isEnum));
    expect(partsOf(document).filter((part) => isEnum(part) && !named.has(part))).toEqual([]);
    const bodies = operationsOf(document).flatMap(({ operation }) => operation["requestBody"]?.content ?? []);
    expect(bodies.map((content) => content["application/json"].schema.$ref.split("/").at(-1))).toEqual([
      "ImportProductsBody",
      "ImportProductsCsvBody",
      "ImportProductBody",
      "SaveLiveStreamBody",
      "RecordShopperEventsBody",
      "SaveMomentsBody",
      "RecordOrdersBody",
    ]);
  });

  test("says which parameters may be left out, what they are then, and their bounds", () => {
    const parameters = (path: string): Document[] => operationAt("GET", path)["parameters"];
    const named = (path: string, name: string) => parameters(path).find((parameter) => parameter["name"] === name);
    const list = "/external/analytics/v1/live-streams";
    expect(named(list, "orderBy")).toMatchObject({
      required: false,
      schema: { $ref: "#/components/schemas/LiveStreamOrder", default: "STARTED_AT" },
    });
    for (const path of [list, "/external/product/v1", "/external/analytics/v1/products"]) {
      expect(named(path, "first")).toMatchObject({ required: false, schema: { minimum: 0, maximum: 100 } });
    }
    expect(named(`${list}/{lsId}/moments`, "first")).toMatchObject({ schema: { default: 100, maximum: 2_000 } });
    expect(named("/external/analytics/v1/products", "from")).toMatchObject({ required: true });
  });

  test("says what every operation may answer, and that a 200 is never null", () => {
    for (const { method, path, operation } of operationsOf(document)) {
      const statuses = Object.keys(operation["responses"]);
      const ofBody = operation["requestBody"] === undefined ? [] : ["413", "415"];
      expect([method, path, statuses]).toEqual([
        method,
        path,
        expect.arrayContaining(["200", "400", "401", "403", "405", "414", "500", "503", "default", ...ofBody]),
      ]);
      const others = ["listLiveStreams", "previewAttribution"];
      const isAnalyticsRead = operation["tags"].includes("Analytics") || others.includes(operation["operationId"]);
      expect([path, statuses.includes("429")]).toEqual([path, isAnalyticsRead]);
      for (const { schema } of Object.values<Document>(operation["responses"][200].content)) {
        expect(schema).not.toHaveProperty("anyOf");
        expect([schema.type].flat()).not.toContain("null");
      }
    }
  });

  test("has an example for every body, every path parameter and every response, each valid for its schema", () => {
    const faults = faultFinder(document, { closed: true });
    const examples = examplesOf(document);
    for (const { place, value, schema } of examples) {
      expect({ place, faults: faults(schema, value) }).toEqual({ place, faults: [] });
    }
    const places = examples.map(({ place }) => place);
    for (const { method, path, operation } of operationsOf(document)) {
      const expected = [
        ...operation["parameters"]
          .filter((parameter: Document) => parameter["in"] === "path")
          .map(({ name }: Document) => name),
        ...("requestBody" in operation ? ["body application/json"] : []),
        ...Object.keys(operation["responses"])
          .filter((status) => status !== "304") // has no body
          .map((status) => `${status} ${status === "200" ? mediaTypeOf(operation) : "application/problem+json"}`),
      ];
      expect(places).toEqual(expect.arrayContaining(expected.map((part) => `${method} ${path} ${part}`)));
    }
  });
});

describe("the schema of a product to import", () => {
  const minimal = {
    id: "a",
    sku: "A",
    title: "A",
    available: true,
    featured_image: "//shop.example/a.jpg",
    url: "HTTPS://shop.example/ä%20b",
  };
  const withField = (field: string, value: unknown) => ({ ...minimal, [field]: value });
  const accepted = [
    minimal,
    { ...minimal, description: null, price: null, price_min: null, price_max: null, images: null },
    { ...minimal, description: "", price: 0, images: [] },
    withField("id", "\u{1F455}".repeat(255)),
    withField("title", "t".repeat(1_000)),
    withField("description", "d".repeat(65_535)),
    withField("price", 1e300),
    withField(
      "images",
      Array.from({ length: 250 }, () => "http://shop.example/i.jpg"),
    ),
    withField("url", `//shop.example/${"u".repeat(2_033)}`),
  ];
  const refused = [
    ...["id", "sku", "title", "available", "featured_image", "url"].map((field) => withField(field, null)),
    ...["id", "sku", "title"].map((field) => withField(field, " \n")),
    withField("id", "\u{1F455}".repeat(256)),
    withField("sku", "s".repeat(256)),
    withField("title", "t".repeat(1_001)),
    withField("description", "d".repeat(65_536)),
    withField("price", -0.01),
    withField("price_min", "1"),
    withField("available", "true"),
    withField("images", "https://shop.example/i.jpg"),
    withField("images", [null]),
    withField(
      "images",
      Array.from({ length: 251 }, () => "http://shop.example/i.jpg"),
    ),
    withField("featured_image", "javascript:alert(1)"),
    withField("images", ["https://shop.example/1.jpg|https://shop.example/2.jpg"]),
    withField("url", "https://shop.example/a b"),
    withField("url", `//shop.example/${"u".repeat(2_034)}`),
    withField("colour", "red"),
    [],
  ];

  test("accepts and refuses the same products as the service", () => {
    const faults = faultFinder(document, { closed: false });
    const verdicts = [...accepted, ...refused].map((product) => ({
      schema: faults({ $ref: "#/components/schemas/ProductInput" }, product).length === 0,
      service: checkProduct(product, { path: [] }, new Problems()),
    }));
    const both = (verdict: boolean) => ({ schema: verdict, service: verdict });
    expect(verdicts).toEqual([...accepted.map(() => both(true)), ...refused.map(() => both(false))]);
  });
});
