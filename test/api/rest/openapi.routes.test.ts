import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { readConfig } from "../../../src/config.js";
import { schema } from "../../../src/api/graphql/schema.js";
import { describeApi } from "../../../src/api/openapi/document.js";
import { planRest } from "../../../src/api/rest/routes/derivation.js";
import { analyticsExample } from "../../../src/api/rest/routes/exampleData.js";
import type { RestRoute } from "../../../src/api/rest/routes/route.js";
import { type Document, examplesOf, resolved, faultFinder } from "../../support/http/openapi.js";

const route: RestRoute = {
  root: "Query",
  operation: "liveStreamAnalytics",
  operationId: "getLiveStreamAnalytics",
  inContract: true,
  method: "GET",
  path: "/analytics/v1/live-streams/:lsId",
  summary: "Live shopping performance",
  tag: "Analytics",
  errors: ["LIVE_STREAM_NOT_FOUND"],
  example: { parameters: { lsId: "summer-sale" }, answer: analyticsExample },
};

/** The document of a service with this route alone. */
async function describeRoute(analyticsRateLimit: number): Promise<{ document: Document; operation: Document }> {
  const limits = { ...readConfig({}), analyticsRateLimit };
  const operations = await planRest(schema, [route]);
  const document: Document = structuredClone(describeApi({ schema, operations, limits }));
  return { document, operation: document["paths"]["/external/analytics/v1/live-streams/{lsId}"].get };
}

test("a new route is documented without further code, with the errors and headers of its kind", async () => {
  const { document, operation } = await describeRoute(100);
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
  expect(Object.keys(document["paths"])).toHaveLength(1);
  expect(document["tags"]).toMatchObject([{ name: "Analytics" }]);
  expect(operation).toMatchObject({
    operationId: "getLiveStreamAnalytics",
    summary: "Live shopping performance",
    tags: ["Analytics"],
  });
  expect(operation["parameters"]).toMatchObject([
    { name: "lsId", in: "path", required: true, schema: { type: "string" } },
  ]);
  expect(operation["description"]).toContain("`If-None-Match`");
  expect(Object.keys(operation["responses"])).toEqual([
    "200",
    "304",
    "400",
    "401",
    "403",
    "404",
    "405",
    "414",
    "429",
    "500",
    "503",
    "default",
  ]);

  const headersAt = (status: number) => Object.keys(resolved(document, operation["responses"][status])["headers"]);
  const limitHeaders = ["RateLimit", "RateLimit-Policy"];
  expect(headersAt(200)).toEqual(["X-Request-Id", ...limitHeaders, "ETag"]);
  expect(headersAt(304)).toEqual(["X-Request-Id", ...limitHeaders, "ETag"]);
  expect(operation["responses"][304]).not.toHaveProperty("content");
  expect(headersAt(404)).toEqual(["X-Request-Id", ...limitHeaders]);
  expect(headersAt(429)).toEqual(["X-Request-Id", "Retry-After", ...limitHeaders]);
  expect(headersAt(503)).toEqual(["X-Request-Id", "Retry-After"]);
});

test("members that may be null say so, and are never left out", async () => {
  const { LiveStreamAnalytics } = (await describeRoute(100)).document["components"].schemas;
  expect(LiveStreamAnalytics.required).toEqual([
    "id",
    "name",
    "startedAt",
    "endedAt",
    "durationSeconds",
    "host",
    "kpis",
  ]);
  expect(LiveStreamAnalytics.properties).toMatchObject({
    startedAt: { type: "string", format: "date-time" },
    endedAt: { type: ["string", "null"], format: "date-time" },
    host: { anyOf: [{ $ref: "#/components/schemas/Host" }, { type: "null" }] },
    kpis: { $ref: "#/components/schemas/Kpis" },
  });
});

test("its examples match its schemas", async () => {
  const { document } = await describeRoute(100);
  const faults = faultFinder(document, { closed: true });
  for (const { place, value, schema: own } of examplesOf(document)) {
    expect({ place, faults: faults(own, value) }).toEqual({ place, faults: [] });
  }
});

test("without a rate limit none is documented", async () => {
  const { operation } = await describeRoute(0);
  expect(operation["responses"]).not.toHaveProperty("429");
  expect(Object.keys(operation["responses"][200].headers)).toEqual(["X-Request-Id", "ETag"]);
});
