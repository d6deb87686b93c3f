import { beforeAll, expect, test } from "vitest";
import { createTestStore, type TestStore } from "../../support/app.js";
import {
  type Document,
  openDocumentedApp,
  operationsOf,
  type OperationPlace,
  resolved,
} from "../../support/http/openapi.js";
import { saved } from "../../support/shows.js";
import { showExample } from "../../../src/api/rest/routes/exampleData.js";

const { app, document } = await openDocumentedApp({ analyticsRateLimit: 1, productRateLimit: 1 });
const operations = operationsOf(document).map((place) => [`${place.method} ${place.path}`, place] as const);

let store: TestStore;
beforeAll(async () => {
  store = await createTestStore(app);
  await saved(store, { id: showExample.id });
});

/** A path with the examples of its parameters, or with ids that nothing has. */
function filled({ path, operation }: OperationPlace, isMissing = false): string {
  return path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => {
    const { example } = operation["parameters"].find((parameter: Document) => parameter["name"] === name);
    return isMissing ? "missing" : encodeURIComponent(String(example));
  });
}

function queryOf({ operation }: OperationPlace): string {
  const given = operation["parameters"].filter(
    (parameter: Document) => parameter["in"] === "query" && parameter["example"] !== undefined,
  );
  const search = new URLSearchParams(
    given.map(({ name, example }: Document): [string, string] => [name, String(example)]),
  );
  return search.size === 0 ? "" : `?${search}`;
}

async function send(place: OperationPlace, url: string, mediaType = "application/json", body?: string) {
  const { example } = place.operation["requestBody"]?.content[mediaType] ?? {};
  const text = typeof example === "string" ? example : JSON.stringify(example);
  const sent = body ?? text;
  return store.fetch(url, {
    method: place.method,
    ...(sent !== undefined && { headers: { "content-type": mediaType }, body: sent }),
  });
}

/** Checks the answer against what the document says of its status. */
async function expectDescribed({ operation }: OperationPlace, response: Response): Promise<void> {
  const { code } = await response.json();
  const described = operation["responses"][response.status];
  expect([response.status, Object.keys(operation["responses"])]).toEqual([
    response.status,
    expect.arrayContaining([String(response.status)]),
  ]);
  const { content } = resolved(document, described);
  expect(Object.keys(content["application/problem+json"].examples)).toContain(code);
}

test.each(operations)("%s describes the answer to a method that the path does not take", async (_, place) => {
  const method = "put" in document["paths"][place.path] ? "DELETE" : "PUT";
  const response = await store.fetch(filled(place), { method });
  expect(response.status).toBe(405);
  await expectDescribed(place, response);
});

const withIds = operations.filter(([, { method, path }]) => path.includes("{") && method !== "PUT");

test.each(withIds)("%s describes the answer where nothing has the id", async (_, place) => {
  const response = await send(place, filled(place, true) + queryOf(place));
  expect(response.status).toBeGreaterThanOrEqual(400);
  await expectDescribed(place, response);
});

/** Calls that differ, of those whose equal calls count as one. */
const differing: Readonly<Record<string, (call: number) => string>> = {
  getStoreAnalytics: (call) => `&timeZone=${["UTC", "Europe/Rome", "Asia/Tokyo"][call]}`,
  listProductPerformance: (call) => `&first=${call + 1}`,
  previewAttribution: (call) => `&windowHours=${call + 1}`,
  listLiveStreams: (call) => `?orderBy=SALES&first=${call + 1}`,
};

test.each(operations)("%s is limited if it says so, and only then", async (_, place) => {
  const { operationId, responses } = place.operation as { operationId: string; responses: object };
  const statuses: number[] = [];
  for (let call = 0; call < 3; call += 1) {
    const response = await send(place, filled(place) + queryOf(place) + (differing[operationId]?.(call) ?? ""));
    statuses.push(response.status);
    await response.body?.cancel();
  }
  expect([statuses.includes(429), statuses]).toEqual(["429" in responses, statuses]);
});

test.each(["recordOrders", "recordShopperEvents"])(
  "%s takes what its body may be in JSON as lines too, as the document says of them",
  async (name) => {
    const place = operationsOf(document).find(({ operation }) => operation["operationId"] === name) as OperationPlace;
    const content: Document = place.operation["requestBody"].content;
    const { schema, example } = content["application/x-ndjson"];
    const members: Document = resolved(document, content["application/json"].schema)["properties"];
    const [member = ""] = Object.keys(members);
    const item: string = members[member].items.$ref;
    expect(schema.description).toBe(`On each line, one \`${item.split("/").at(-1)}\` as JSON.`);
    const items: Document[] = content["application/json"].example[member];
    const optional = Object.entries<Document>(resolved(document, members[member].items)["properties"]).filter(
      ([, { type }]) => [type].flat().includes("null"),
    );
    const withNull = items.map((each) => ({
      ...Object.fromEntries(optional.map(([field]) => [field, null])),
      ...each,
    }));
    const bodies = [
      example,
      "",
      "\n",
      ...[items, withNull].map((list) => list.map((each) => JSON.stringify(each)).join("\r\n")),
    ];
    for (const body of bodies) {
      const response = await send(place, filled(place), "application/x-ndjson", body);
      expect([body, response.status, await response.text()]).toEqual([body, 200, expect.stringContaining("accepted")]);
    }
    const missing = JSON.stringify(name === "recordOrders" ? { ...items[0], lsId: "missing" } : items[0]);
    const url = name === "recordOrders" ? filled(place) : filled(place, true);
    const refused = await send(place, url, "application/x-ndjson", missing);
    expect(refused.status).toBe(404);
    await expectDescribed(place, refused);
  },
);
