import { beforeAll, expect, test } from "vitest";
import { addSite } from "../../../src/stores/site.js";
import { exampleProduct as shirt } from "../../../src/files/product/product.fields.js";
import { eventsExample, scarf, sentOrderExample, showExample } from "../../../src/api/rest/routes/exampleData.js";
import { createTestStore, type TestStore } from "../../support/app.js";
import { type Document, faultFinder, openDocumentedApp, operationsOf, resolved } from "../../support/http/openapi.js";
import { type AllowedCall, allowedCalls, type KnownValues } from "../../support/http/openapi.calls.js";
import { recordedOrders } from "../../support/figures/orders.js";
import { bulk, paths, product } from "../../support/products.js";
import { seeded } from "../../support/faults/random.js";
import { recorded, saved } from "../../support/shows.js";

const { app, document } = await openDocumentedApp({ analyticsRateLimit: 0 });
const seed = Number(process.env["PROPERTY_SEED"] ?? Math.floor(Math.random() * 2 ** 32));
const faults = faultFinder(document, { closed: true });

let store: TestStore;
beforeAll(async () => {
  store = await createTestStore(app);
  await addSite(app.db, store.id, "web", "shop");
  await store.post(paths.bulk, bulk([shirt, scarf, product("third")]));
  const { endedAt: _, ...sentShow } = showExample;
  await saved(store, sentShow);
  await recordedOrders(store, [sentOrderExample]);
  await recorded(store, showExample.id, eventsExample as Parameters<typeof recorded>[2]);
});

/** Texts, which the document leaves open, that fit the data and the examples of files. */
const known: KnownValues = {
  siteId: ["", "web"],
  siteType: ["", "shop"],
  lsId: ["summer-sale"],
  search: ["summer", ""],
  host: ["Robin Host"],
  ids: [["linen-shirt"]],
  from: ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00+01:00"],
  until: ["2027-01-01T00:00:00.5Z"],
  updatedSince: ["2026-01-01T00:00:00Z"],
  timeZone: ["UTC", "Europe/Berlin"],
  id: ["pin-1"],
  after: [], // each list has cursors of its own
  maxDeletions: [1_000, 0],
  format: ["auto"],
  delimiter: ["comma"],
  encoding: ["utf-8"],
  urlTemplate: ["https://shop.example/{sku}"],
  map: [["title:title"], ["url:url"]],
  default: [["description:None"]],
  fillDown: ["title"],
};

/** What the data of the store may refuse, whatever the form of a call. */
const refusedByData = new Set(["TOO_MANY_DELETIONS"]);

async function answered({ method, url, mediaType, body }: AllowedCall): Promise<Response> {
  // As the description of maxDeletions says, it is for REPLACE: parameters cannot say so of each other.
  const withMode = url.includes("maxDeletions=") ? `${url.replace(/mode=\w+&?/u, "")}&mode=REPLACE` : url;
  // As docs/formats.md says, PATCH reads files in Vitrine's own columns, which have no use for the options of others.
  const path = withMode.includes("urlTemplate=") ? withMode.replace(/mode=PATCH&?/u, "") : withMode;
  return store.fetch(path, {
    method,
    ...(mediaType !== undefined && {
      headers: { "content-type": mediaType },
      body: typeof body === "string" ? body : JSON.stringify(body),
    }),
  });
}

/** Checks an answer against its description. */
async function expectDocumented({ operation }: AllowedCall, response: Response) {
  const described = resolved(document, operation["responses"][response.status]);
  const mediaType = response.headers.get("content-type")?.split(";")[0] ?? "";
  expect(Object.keys(described["content"])).toEqual([mediaType]);
  const headers = Object.entries<Document>(described["headers"])
    .filter(([, header]) => resolved(document, header)["required"] !== false)
    .map(([name]) => name.toLowerCase());
  expect([...response.headers.keys()]).toEqual(expect.arrayContaining(headers));
  const text = await response.text();
  const isJson = mediaType.endsWith("json") && !mediaType.includes("ndjson");
  const value: unknown = isJson ? JSON.parse(text) : text;
  expect({ value, faults: faults(described["content"][mediaType].schema, value) }).toEqual({ value, faults: [] });
}

test.each(operationsOf(document).map((place) => [`${place.method} ${place.path}`, place] as const))(
  "%s answers every call that the document allows, as it is documented",
  async (name, place) => {
    const calls = allowedCalls(document, place, { known, random: seeded(seed), faults });
    for (const call of calls) {
      if (call.method === "DELETE") await store.post(paths.one, { product: scarf });
      const response = await answered(call);
      const { code } = response.status === 200 ? { code: "" } : await response.clone().json();
      const outcome = refusedByData.has(code) ? 200 : response.status;
      const refusal = outcome === 200 ? "" : await response.clone().text();
      const sent = { seed, name, url: call.url, body: call.body };
      expect({ ...sent, outcome, refusal }).toEqual({ ...sent, outcome: 200, refusal: "" });
      await expectDocumented(call, response);
    }
    expect(calls.length).toBeGreaterThan(0);
  },
);
