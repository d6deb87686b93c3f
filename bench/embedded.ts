import type { Request } from "autocannon";
import { type Round, sendAll } from "./load.js";
import { productReferences } from "./products.js";
import { graphqlReadRequest, readRequest, storeProducts } from "./requests.js";
import { temporaryFolder } from "./resources.js";
import { type BenchServer, startServer } from "./server.js";
import { plain, progress, type Row } from "./table.js";

const rounds = 3;
const connections = 32;
const requestsPerRound = 4_000;

/** The reads of one product on the embedded database, which runs in the same process. */
export async function benchEmbedded(): Promise<Row[]> {
  const server = await startServer({ DATA_DIR: temporaryFolder() });
  await storeProducts(server);
  return [
    await benchReads(server, "REST read of one product", readRequest),
    await benchReads(server, "GraphQL read of one product", graphqlReadRequest),
  ];
}

async function benchReads(
  server: BenchServer,
  work: string,
  makeRequest: (token: string, reference: string) => Request,
): Promise<Row> {
  const references = productReferences().slice(0, requestsPerRound);
  const requests = references.map((reference) => makeRequest(server.token, reference));
  progress(`embedded, ${work}: ${requests.length} requests in each of ${rounds} rounds`);
  await sendAll(server, requests, connections); // warms up
  const found: Round[] = [];
  for (let round = 0; round < rounds; round += 1) found.push(await sendAll(server, requests, connections));
  const rates = found.map(({ requestsPerSecond }) => requestsPerSecond);
  const p99s = found.map(({ p99Ms }) => p99Ms);
  return {
    work: `${work} on the embedded database, ${connections} connections: CPU per request, the database's included`,
    values: found.map(({ cpuMicros }) => cpuMicros),
    digits: 0,
    unit: "µs",
    detail: `${plain(rates, 0, "/s")}, 99th percentile ${plain(p99s, 1, "ms")}`,
  };
}
