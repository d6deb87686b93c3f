import { deepStrictEqual } from "node:assert/strict";
import type { Request } from "autocannon";
import { alternate, ratios, type Round, sendAll } from "./load.js";
import { productReferences } from "./products.js";
import { type Answer, ask, graphqlReadRequest, readRequest, storeProducts } from "./requests.js";
import { type BenchServer, createDatabase, query, type RunningService, startFloor, startServer } from "./server.js";
import { atMost, plain, progress, type Row } from "./table.js";

const rounds = 7;
const connections = 32;
/** How often each product is asked for in a round. */
const passes = 2;

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

  const references = Array.from({ length: passes }, productReferences).flat();
  const requests = references.map((reference) => makeRequest(server.token, reference));
  progress(`${work}: ${requests.length} requests in each of ${rounds} rounds`);
  const found = await alternate(
    rounds,
    () => sendAll(server, requests, connections),
    () => sendAll(floor, requests, connections),
  );
  const ours = figures(found.ours);
  const theirs = figures(found.floor);
  return [
    {
      work: `${work}, ${connections} connections: CPU per request against the floor`,
      values: ratios(found, ({ cpuMicros }) => cpuMicros),
      digits: 2,
      detail: `${plain(ours.cpuMicros, 0, "µs")} against ${plain(theirs.cpuMicros, 0, "µs")}`,
      bound: atMost(2, 1.2),
    },
    {
      work: `${work}: requests a second`,
      values: ours.rates,
      digits: 0,
      unit: "/s",
      detail: `floor ${plain(theirs.rates, 0, "/s")}`,
    },
    {
      work: `${work}: 99th percentile of latency`,
      values: ours.p99s,
      digits: 1,
      unit: "ms",
      detail: `floor ${plain(theirs.p99s, 1, "ms")}`,
    },
  ];
}

function figures(found: readonly Round[]) {
  return {
    cpuMicros: found.map((round) => round.cpuMicros),
    rates: found.map((round) => round.requestsPerSecond),
    p99s: found.map((round) => round.p99Ms),
  };
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
    const [ours, theirs] = await Promise.all([ask(server, request), ask(floor, request)]);
    deepStrictEqual(
      essence(ours),
      essence(theirs),
      `Vitrine and the floor differ on ${request.path} ${request.body ?? ""}`,
    );
  }
}

/** What both must give the same: of a refused token the status, of a missing product also what says why. */
function essence({ status, type, body }: Answer): object {
  if (status === 401) return { status };
  const code: unknown = body.errors?.[0]?.extensions?.code ?? body.code;
  return code === undefined ? { status, type, body } : { status, type, code, data: body.data };
}
