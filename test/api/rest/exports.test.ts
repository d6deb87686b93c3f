import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { exportPlaces } from "../../../src/catalog/export/export.js";
import { sendExport } from "../../../src/server/http/routes/rest.route.js";
import { type ExportCall, exportRoutes } from "../../../src/api/rest/exports/export.routes.js";
import type { Context } from "../../../src/schema/context.js";
import { createTestStore, openTestApp } from "../../support/app.js";
import { bulk, paths, product } from "../../support/products.js";

const app = await openTestApp();

test("an export that has begun, but whose answer cannot begin, gives back what it holds", async () => {
  const store = await createTestStore(app);
  expect((await store.post(paths.bulk, bulk([product("p")]))).status).toBe(200);
  const [route] = exportRoutes;
  const context = {
    db: app.db,
    identity: { storeId: store.id },
    access: { endSignal: () => new AbortController().signal },
    limits: { rates: { policies: {} } },
  } as unknown as Context;
  const call = {
    ...route,
    open: (_, __, isHead) => route?.open({}, context, isHead),
  } as ExportCall;
  let refusal: unknown;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.writeHead(401).end(); // as where the token has ended meanwhile
    const exchange = { request, response, search: "" } as Parameters<typeof sendExport>[1];
    await sendExport(call, exchange, context).catch((error: unknown) => (refusal = error));
  };
  let answered: Promise<void> | undefined;
  const server = createServer((request, response) => void (answered = answer(request, response))).listen(0);
  onTestFinished(() => void server.close());
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  await answered;
  expect(refusal).toMatchObject({ code: "ERR_HTTP_HEADERS_SENT" });
  expect(exportPlaces.held).toBe(0);
});
