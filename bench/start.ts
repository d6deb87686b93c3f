import { setTimeout as sleep } from "node:timers/promises";
import { temporaryFolder } from "./resources.js";
import { serve } from "./server.js";
import { atMost, progress, type Row } from "./table.js";

const rounds = 5;
const pollMs = 5;

/** From the start of the process until it is ready, on an embedded database that exists. */
export async function benchStart(): Promise<Row[]> {
  const database = { DATA_DIR: temporaryFolder() };
  const first = await serve(database);
  await first.stop();
  progress(`start: ${rounds} rounds`);
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const start = performance.now();
    const server = await serve(database);
    while (!(await isReady(server.url))) await sleep(pollMs);
    seconds.push((performance.now() - start) / 1_000);
    await server.stop();
  }
  const work = "cold start to ready on an existing embedded database";
  return [{ work, values: seconds, digits: 2, unit: "s", bound: atMost(3, 1.5) }];
}

async function isReady(url: string): Promise<boolean> {
  const response = await fetch(`${url}/readyz`);
  await response.arrayBuffer();
  return response.status === 200;
}
