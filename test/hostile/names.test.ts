import { buildSchema, type GraphQLArgument, getNamedType, isEnumType, isInputObjectType, isNonNullType } from "graphql";
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { createTestStore } from "../support/app.js";
import { readAnswer } from "../support/call.js";
import { readFile as readCatalogFile } from "../support/catalog/formats.js";
import { type Document, openDocumentedApp, operationsOf, resolved } from "../support/http/openapi.js";
import { paths } from "../support/products.js";
import { isLong } from "../support/run/tier.js";

/** What every object has by inheritance: a look-up by a name from outside must not find it. */
const inherited = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== "__proto__");
/** What is no object's own, and a function that is found in letters of any case. */
const names = ["__proto__", ...(isLong ? inherited : ["constructor"])];

const { app, document } = await openDocumentedApp();
const store = await createTestStore(app);
const operations = operationsOf(document).filter(({ path }) => path.startsWith("/external/"));

/** Faults within answers of status 200 are logged as well. */
const expectNoFault = () => expect(app.logged).toEqual([]);

/** The answer, which must not be a fault of the service. */
async function sent(path: string, options: RequestInit = {}) {
  const response = await store.fetch(path, options);
  expect(response.status, `${path} ${JSON.stringify(options.body)}`).toBeLessThan(500);
  const isJson = /^application\/(?:[\w-]+\+)?json/u.test(response.headers.get("content-type") ?? "");
  return isJson ? readAnswer(response) : { status: response.status, body: await response.text() };
}

/** All at a time. */
const forEachName = (work: (name: string) => Promise<void>) => Promise.all(names.map(work));

const isFreeText = ({ type, enum: values, format, items }: Document): boolean =>
  type === "array" ? isFreeText(items) : type === "string" && values === undefined && format === undefined;

describe.each(operations.map((each) => [`${each.method} ${each.path}`, each] as const))(
  "%s",
  (_, { method, path, operation }) => {
    const parameters: Document[] = operation["parameters"].map((part: Document) => resolved(document, part));
    const json = operation["requestBody"]?.content["application/json"];
    const example = json && Object.values<Document>(json.examples ?? { only: { value: json.example } })[0]?.["value"];
    const urlWith = (own: Readonly<Record<string, string>>) => {
      const given = (name: string) => own[name] ?? "a";
      const filled = path.replaceAll(/\{(\w+)\}/gu, (__, name: string) => encodeURIComponent(given(name)));
      const isInPath = (name: string) => path.includes(`{${name}}`);
      const query = new URLSearchParams(Object.entries(own).filter(([name]) => !isInPath(name)));
      return query.size === 0 ? filled : `${filled}?${query}`;
    };
    const upload = Object.keys(operation["requestBody"]?.content ?? {}).find((type) => type !== "application/json");
    const jsonBody = { method, headers: { "content-type": "application/json" } };
    /** The query string counts beside no body, and beside one that is a file. */
    const headers: Record<string, string> = json === undefined ? {} : { "content-type": upload ?? "application/json" };
    const body = upload === undefined ? JSON.stringify(example) : "id,sku\n";
    const beside = { method, headers, ...(json !== undefined && { body }) };

    test("parameters", async () => {
      await forEachName(async (name) => {
        for (const { name: parameter, in: place, schema } of parameters) {
          if (place === "header") {
            await sent(urlWith({}), { ...beside, headers: { ...headers, [parameter]: name } });
            continue;
          }
          const { status } = await sent(urlWith({ [parameter]: name }), beside);
          const isRead = place === "path" || json === undefined || upload !== undefined;
          if (isRead && !isFreeText(schema)) expect([parameter, name, status]).toEqual([parameter, name, 400]);
        }
        await sent(urlWith({ [name]: "1" }), beside);
      });
      expectNoFault();
    });

    test("members of bodies, and their values", async () => {
      if (json === undefined) return expect(["GET", "DELETE"]).toContain(method);
      const post = (text: string) => sent(urlWith({}), { ...jsonBody, body: text });
      await forEachName(async (name) => {
        for (const each of withMember(example, name)) expect([each, (await post(each)).status]).toEqual([each, 400]);
      });
      for (const each of withValue(example, "__proto__")) await post(each);
      expectNoFault();
    });
  },
);

/** The JSON of a value with one more member in each of its objects in turn. */
function withMember(value: unknown, name: string): string[] {
  const marker = "\u0001";
  return placesOf(value).flatMap(({ found, put }) =>
    typeof found === "object" && found !== null && !Array.isArray(found)
      ? [JSON.stringify(put({ ...found, [marker]: 1 })).replace(JSON.stringify(marker), JSON.stringify(name))]
      : [],
  );
}

/** The JSON of a value with this text in place of each text in turn. */
function withValue(value: unknown, text: string): string[] {
  return placesOf(value).flatMap(({ found, put }) => (typeof found === "string" ? [JSON.stringify(put(text))] : []));
}

/** Of a list, one element with the same members: others of its kind are read by the same code. */
function entriesOf(value: object): [key: string, member: unknown][] {
  const kindOf = (member: unknown) => (member instanceof Object ? Object.keys(member).join() : typeof member);
  const kinds = Object.values(value).map(kindOf);
  return Object.entries(value).filter(
    ([, member], index) => !Array.isArray(value) || kinds.indexOf(kindOf(member)) === index,
  );
}

interface PlaceOf {
  readonly found: unknown;
  readonly put: (other: unknown) => unknown;
}

function placesOf(value: unknown): PlaceOf[] {
  const own = { found: value, put: (other: unknown) => other };
  if (typeof value !== "object" || value === null) return [own];
  const inner = entriesOf(value).flatMap(([key, member]) =>
    placesOf(member).map(({ found, put }) => ({
      found,
      put: (other: unknown) =>
        Array.isArray(value)
          ? value.map((item: unknown, index) => (String(index) === key ? put(other) : item))
          : { ...value, [key]: put(other) },
    })),
  );
  return [own, ...inner];
}

test.each(["format", "delimiter", "encoding"])("%s of a file", async (option) => {
  for (const name of names) {
    const options = { method: "POST", headers: { "content-type": "text/csv" }, body: "id,sku\n1,2\n" };
    const { status, body } = await sent(`${paths.csv}?${option}=${name}`, options);
    expect([name, status, body.code]).toEqual([name, 400, "BAD_REQUEST"]);
  }
  expectNoFault();
});

test.each([
  "cesu8",
  "CESU-8",
  "base64",
  "base-64",
  "hex",
  "h e x",
  "hex:1234",
  "binary",
  "internal",
  "",
  "-",
  "singlebyte",
])("the encoding %j is none of files", async (encoding) => {
  const options = { method: "POST", headers: { "content-type": "text/csv" }, body: "id,sku\n1,2\n" };
  const { status, body } = await sent(`${paths.csv}?encoding=${encodeURIComponent(encoding)}`, options);
  expect([status, body.code]).toEqual([400, "BAD_REQUEST"]);
});

describe("files", () => {
  const urlOf = (name: string) => `https://shop.example/{${name}}`;

  test("a placeholder is a column, or there is none", async () => {
    for (const name of names) {
      const shopify = "Handle,Title,Variant SKU,Variant Price,Image Src";
      const row = "mug,Mug,m-1,1,https://a.example/i.jpg";
      const without = await readCatalogFile(`${shopify}\n${row}\n`, { urlTemplate: urlOf(name) });
      expect(without.problems).toEqual([
        `1 url: The URL template has {${name.toLowerCase()}}, but this file has no such column.`,
      ]);
      const withColumn = await readCatalogFile(`${shopify},${name}\n${row},x\n`, { urlTemplate: urlOf(name) });
      expect(withColumn.products).toMatchObject([{ id: "m-1", url: "https://shop.example/x" }]);
      const withBlank = await readCatalogFile(`${shopify},${name}\n${row},\n`, { urlTemplate: urlOf(name) });
      expect(withBlank.problems).toEqual(["2 url: url is required."]);
    }
  });

  test("a column, and a cell", async () => {
    for (const name of names) {
      const own = await readCatalogFile(`id,sku,${name}\n1,2,3\n`);
      expect(own.problems[0]).toContain(`A product has no column "${name}".`);
      const cells = Array.from({ length: 15 }, () => name).join(",");
      const headers = {
        shopify:
          "Handle,Title,Body (HTML),Published,Status,Option1 Value,Variant SKU,Variant Price,Image Src,Image Position",
        woocommerce:
          "ID,Type,SKU,Name,Published,In stock?,Stock,Backorders allowed?,Sale price,Regular price,Images,Parent",
        magento:
          "sku,product_type,name,price,product_online,is_in_stock,qty,base_image,visibility,configurable_variations",
        google: "id,mpn,title,link,image_link,price,sale_price,sale_price_effective_date,availability",
      } as const;
      for (const [format, header] of Object.entries(headers)) {
        const columns = header.split(",").length;
        const text = `${header},${name}\n${cells.split(",").slice(0, columns).join(",")},1\n`;
        await readCatalogFile(text, { urlTemplate: urlOf("sku|handle|id"), format: format as keyof typeof headers });
      }
    }
  });

  test("an element of a feed", async () => {
    for (const name of names) {
      const xml = `<rss><channel><item><g:id>1</g:id><${name}>x</${name}><g:${name} ${name}="1">y</g:${name}><title>${name}</title><link>https://a.example/</link><g:image_link>https://a.example/i.jpg</g:image_link><g:availability>in stock</g:availability></item></channel></rss>`;
      const { products } = await readCatalogFile(xml);
      expect(products).toMatchObject([{ id: "1", title: name }]);
    }
  });
});

describe("GraphQL", async () => {
  const schema = buildSchema(await readFile("schema.graphql", "utf8"));
  const post = (body: string) =>
    sent("/graphql", { method: "POST", headers: { "content-type": "application/json" }, body });
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.values(type?.getFields() ?? {}).map((field) => ({
      operation: type === schema.getQueryType() ? "query" : "mutation",
      field,
    })),
  );

  test("names in operations", async () => {
    await forEachName(async (name) => {
      const operation = name.startsWith("__") ? "a" : name; // GraphQL reserves names that begin so
      const texts = [
        `{ ${name} }`,
        `{ ${name}: store { ${name} } }`,
        `{ product(${name}: 1) { id } }`,
        `{ store { id @${name} } }`,
        `{ ...${name} } fragment ${name} on Query { store { id } }`,
        `{ ...${name} }`,
        `{ ... on ${name} { id } }`,
        `query ${operation}($${name}: ${name}) { product(productId: $${name}) { id } }`,
        `query ($${name}: String!) { product(productId: $${name}) { id } }`,
        `{ products(orderBy: ${name}) { nodes { id } } }`,
        `{ __type(name: "${name}") { name } }`,
        `mutation { ${name} }`,
        `subscription { ${name} }`,
      ];
      for (const query of texts) await post(JSON.stringify({ query }));
      for (const more of [
        `"operationName":"${name}"`,
        `"variables":{"${name}":"a"}`,
        `"extensions":{"${name}":{"${name}":1}}`,
        `"${name}":1`,
        `"documentId":"${name}"`,
      ])
        for (const query of ["{ store { id } }", `query ${operation}($a: String!) { product(productId: $a) { id } }`])
          await post(`{"query":${JSON.stringify(query)},${more}}`);
    });
    expectNoFault();
  });

  const valueFor = ({ type }: GraphQLArgument, name: string): unknown => {
    const named = getNamedType(type);
    if (isInputObjectType(named)) return { [name]: name };
    return name;
  };

  test("values of arguments", async () => {
    for (const { operation, field } of fields) {
      const isLeaf = !("getFields" in getNamedType(field.type));
      const declared = field.args.map((each) => `$${each.name}: ${String(each.type)}`).join(", ");
      const passed = field.args.map((each) => `${each.name}: $${each.name}`).join(", ");
      const query = `${operation} (${declared}) { ${field.name}(${passed}) ${isLeaf ? "" : "{ __typename }"} }`;
      for (const [index, argument] of field.args.entries()) {
        const needed = field.args.filter((each) => each === argument || isNonNullType(each.type));
        for (const name of isLong ? names : names.slice(index % 2, (index % 2) + 1)) {
          const variables = Object.fromEntries(needed.map((each) => [each.name, valueFor(each, name)]));
          const { body } = await post(JSON.stringify({ query, variables }));
          if (isEnumType(getNamedType(argument.type)))
            expect([argument.name, name, body.errors?.[0]?.extensions.code]).toEqual([
              argument.name,
              name,
              "VALIDATION_FAILED",
            ]);
        }
      }
    }
    expectNoFault();
  });
});

test("headers", async () => {
  const headers = [
    "accept",
    "accept-encoding",
    "accept-language",
    "content-type",
    "content-encoding",
    "if-none-match",
    "origin",
    "x-request-id",
    "idempotency-key",
    "x-forwarded-for",
    "forwarded",
    "x-forwarded-host",
    "x-service-access-token",
    "cookie",
    "range",
    "traceparent",
    "tracestate",
    "user-agent",
  ];
  for (const name of names) {
    for (const header of headers) {
      const sentHeaders = { "content-type": "application/json", [header]: name };
      for (const path of [paths.of("a"), "/"]) await sent(path, { headers: sentHeaders });
      for (const path of [paths.csv, "/graphql", "/collect/v1"])
        await sent(path, { method: "POST", headers: sentHeaders, body: "{}" });
    }
    for (const path of [
      `/${name}`,
      `/external/${name}`,
      `/external/product/v1/${name}`,
      `/dashboard/assets/${name}`,
      `/docs/${name}`,
    ])
      await sent(path);
  }
  expectNoFault();
});
