import { deepStrictEqual } from "node:assert/strict";
import { alternate, type Request, ratios, sendAll } from "./load.js";
import { graphqlReadRequest, productReferences, readRequest, storeProducts } from "./products.js";
import { type BenchServer, createDatabase, query, type RunningService, startFloor, startServer } from "./server.js";
import { atMost, plain, progress, type Row } from "./table.js";

const rounds = 7;
const connections = 32;

/** REST reads of one product, against Fastify and pg. */
export async function benchRest(): Promise<Row[]> {
  return benchReads("REST read of one product", readRequest);
}

/** GraphQL reads of one product with all its fields, against mercurius and pg. */
export async function benchGraphql(): Promise<Row[]> {
  return benchReads("GraphQL read of one product", graphqlReadRequest);
}

type ReadRequest = (token: string, reference: string) => Request;

async function benchReads(work: string, makeRequest: ReadRequest): Promise<Row[]> {
  const databaseUrl = await createDatabase();
  const server = await startServer({ DATABASE_URL: databaseUrl });
  await storeProducts(server);
  await query(databaseUrl, "VACUUM ANALYZE");
  const floor = await startFloor(databaseUrl);
  await checkAnswers(server, floor, makeRequest);

  const requests = productReferences().map((reference) => makeRequest(server.token, reference));
  progress(`${work}: Vitrine and the floor, ${requests.length} requests in each of ${rounds} rounds`);
  const found = await alternate(
    rounds,
    () => sendAll(server, requests, connections),
    () => sendAll(floor, requests, connections),
  );
  const [ours, theirs] = [found.ours, found.floor].map((list) => ({
    cpu: plain(
      list.map(({ cpuMicros }) => cpuMicros),
      0,
      "µs",
    ),
    rate: plain(
      list.map(({ requestsPerSecond }) => requestsPerSecond),
      0,
      "/s",
    ),
    p99: plain(
      list.map(({ p99Ms }) => p99Ms),
      1,
      "ms",
    ),
  }));
  return [
    {
      work: `${work}, ${connections} connections: CPU per request against the floor`,
      values: ratios(found, ({ cpuMicros }) => cpuMicros),
      digits: 2,
      detail: `${ours?.cpu} against ${theirs?.cpu}`,
      bound: atMost(2, 1.2),
    },
    {
      work: `${work}: requests a second`,
      values: found.ours.map(({ requestsPerSecond }) => requestsPerSecond),
      digits: 0,
      unit: "/s",
      detail: `floor ${theirs?.rate}`,
    },
    {
      work: `${work}: 99th percentile of latency`,
      values: found.ours.map(({ p99Ms }) => p99Ms),
      digits: 1,
      unit: "ms",
      detail: `floor ${theirs?.p99}`,
    },
  ];
}

/** Both must do the same work. @throws {AssertionError} where they answer differently */
async function checkAnswers(server: BenchServer, floor: RunningService, makeRequest: ReadRequest): Promise<void> {
  const wanted = [...productReferences().slice(0, 50), "p-1", "SKU-00000002", "unknown", "a/b"];
  const requests = [
    ...wanted.map((reference) => makeRequest(server.token, reference)),
    makeRequest("wrong", "p-1"),
    { ...makeRequest(server.token, "p-1"), headers: { "content-type": "application/json" } },
  ];
  for (const request of requests) {
    const [ours, theirs] = await Promise.all([ask(server.url, request), ask(floor.url, request)]);
    deepStrictEqual(ours, theirs, `Vitrine and the floor differ on ${request.path} ${request.body ?? ""}`);
  }
}

/** The answer, as far as both must give the same: of a refusal its status, and what says why where the product is missing. */
async function ask(url: string, { path, ...request }: Request): Promise<object> {
  const response = await fetch(`${url}${path}`, request);
  const { status } = response;
  const body: any = await response.json();
  if (status === 401) return { status };
  const code = body.errors?.[0]?.extensions?.code ?? body.code;
  if (code === undefined) return { status, body };
  return { status, code, type: response.headers.get("content-type")?.split(";")[0], data: body.data };
}
