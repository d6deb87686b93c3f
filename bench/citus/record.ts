import { graphql, type RunningService } from "../server.js";
import { recordOperation } from "../storage/stage.js";
import { batchEvents, crowd, mixedBatch } from "../storage/shoppers.js";
import { atMost, plain, progress, type Row } from "../table.js";
import { cpuOf } from "./cluster.js";
import { serveAt, setStage, show, type Stage, type StoreOfNode } from "./stage.js";

const storesOfNode = 2;
const clientsOfStore = 2;
const batchesOfClient = 12;
const rounds = 3;
const viewers = 50_000;

interface Cost {
  readonly coordinator: number;
  readonly all: number;
  readonly rate: number;
}

/** CPU of the database's servers for an event, through the coordinator and by servers that are connected to the nodes. */
export async function recordRows(): Promise<Row[]> {
  const stage = await setStage(storesOfNode);
  progress("citus: recording through the coordinator");
  const through = await measure(stage, () => stage);
  const servers = new Map<number, RunningService>();
  for (const { groupId, url } of stage.nodes) servers.set(groupId, await serveAt(url));
  progress("citus: recording by a server at each node");
  const direct = await measure(stage, ({ groupId }) => servers.get(groupId) ?? stage);
  const micros = { digits: 1, unit: "µs" };
  const row = (work: string, costs: readonly Cost[], value: (cost: Cost) => number): Row => ({
    work: `an event in batches of ${batchEvents}, ${work}`,
    values: costs.map(value),
    ...micros,
    detail: plain(
      costs.map(({ rate }) => rate),
      0,
      "events/s",
    ),
  });
  return [
    { ...row("CPU of the coordinator", through, ({ coordinator }) => coordinator), bound: atMost(20, 10) },
    { ...row("CPU of all nodes", through, ({ all }) => all), bound: atMost(75, 60) },
    row("servers at the nodes, CPU of the coordinator", direct, ({ coordinator }) => coordinator),
    row("servers at the nodes, CPU of all nodes", direct, ({ all }) => all),
  ];
}

async function measure(stage: Stage, serverOf: (store: StoreOfNode) => Pick<RunningService, "url">): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const crowded = crowd(viewers);
    const clients = stage.stores.flatMap((store) =>
      Array.from({ length: clientsOfStore }, () => ({
        target: { url: serverOf(store).url, token: store.token },
        batches: Array.from({ length: batchesOfClient }, () => mixedBatch(crowded)),
      })),
    );
    const before = await cpus(stage);
    const start = performance.now();
    await Promise.all(
      clients.map(async ({ target, batches }) => {
        for (const events of batches) await graphql(target, recordOperation, { lsId: show, events });
      }),
    );
    const seconds = (performance.now() - start) / 1_000;
    const after = await cpus(stage);
    const events = clients.length * batchesOfClient * batchEvents;
    const used = after.map((micros, node) => (micros - (before[node] ?? 0)) / events);
    const all = used.reduce((sum, micros) => sum + micros, 0);
    if (round > 0) costs.push({ coordinator: used[0] ?? NaN, all, rate: events / seconds }); // the first warms up
    progress(
      `  round ${round}: ${used.map((micros) => micros.toFixed(1)).join(" + ")} µs, ${Math.round(events / seconds)} events/s`,
    );
  }
  return costs;
}

/** The CPU time of the coordinator, then of each node. */
function cpus({ coordinator, nodes }: Stage): Promise<number[]> {
  return Promise.all([coordinator, ...nodes].map(cpuOf));
}
