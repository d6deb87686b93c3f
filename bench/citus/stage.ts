import { addStore, graphql, serve, type RunningService } from "../server.js";
import { progress } from "../table.js";
import { clusterUrl, placeOf, type Node, nodesOf } from "./cluster.js";

export interface StoreOfNode {
  readonly store: string;
  readonly token: string;
  readonly groupId: number;
}

/** A server at the coordinator, and stores on each of its nodes, each with a live show. */
export interface Stage extends RunningService {
  readonly databaseUrl: string;
  readonly coordinator: Node;
  readonly nodes: readonly Node[];
  readonly stores: readonly StoreOfNode[];
}

export const show = "show";
const attemptsMax = 200;
let stages = 0;

/** @param storesOfNode how many on each node */
export async function setStage(storesOfNode: number): Promise<Stage> {
  const databaseUrl = clusterUrl();
  const { coordinator, others: nodes } = await nodesOf(databaseUrl);
  const service = await serveAt(databaseUrl);
  const stores: StoreOfNode[] = [];
  const shards = new Set<string>();
  stages += 1;
  progress(`citus: ${storesOfNode} stores on each of ${nodes.length} nodes`);
  for (let attempt = 0; stores.length < storesOfNode * nodes.length; attempt += 1) {
    if (attempt > attemptsMax) throw new Error("No stores came to some node.");
    const name = `bench-${process.pid}-${stages}-${attempt}`;
    const { groupId, shard } = await placeOf(databaseUrl, name);
    if (shards.has(shard)) continue; // it would be moved along with another store
    if (stores.filter((store) => store.groupId === groupId).length >= storesOfNode) continue;
    shards.add(shard);
    const { store, token } = await addStore({ DATABASE_URL: databaseUrl }, name);
    stores.push({ store, token, groupId });
    const liveStream = { id: show, name: show, status: "LIVE", startedAt: new Date().toISOString() };
    const operation = "mutation ($s: LiveStreamInput!) { saveLiveStream(liveStream: $s) { id } }";
    await graphql({ url: service.url, token }, operation, { s: liveStream });
  }
  return { ...service, databaseUrl, coordinator, nodes, stores };
}

export function serveAt(databaseUrl: string): Promise<RunningService> {
  return serve({ DATABASE_URL: databaseUrl }, { AUTO_MIGRATE: "false" });
}
