import { exec } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { closeLater } from "../resources.js";
import { query } from "../server.js";
import { atMost, progress, type Row } from "../table.js";
import { type Node, processesOf, signal } from "./cluster.js";
import { setStage, type Stage, type StoreOfNode } from "./stage.js";
import { callersOfStore, during, rowsOf } from "./watch.js";

export const run = promisify(exec);
const storesOfNode = 3;
const frozenMs = 60_000;
const crashes = 10;
const downMs = 4_000;
const unmovedMs = 10_000;

/** Nodes whose processes are stopped for a minute, one and then two, while three stores of each and one of another node are busy. */
export async function frozenRows(): Promise<Row[]> {
  const stage = await setStage(storesOfNode);
  const rows: Row[] = [];
  for (const [count, work] of [
    [1, "a node frozen for a minute"],
    [2, "two nodes frozen for a minute"],
  ] as const) {
    if (stage.nodes.length <= count) progress(`citus: there are too few nodes for ${work}`);
    else rows.push(...(await rowsOfFrozen(stage, stage.nodes.slice(0, count), work)));
  }
  return rows;
}

async function rowsOfFrozen(stage: Stage, nodes: readonly Node[], work: string): Promise<Row[]> {
  const isOf = ({ groupId }: StoreOfNode) => nodes.some((node) => node.groupId === groupId);
  const found = await during(stage, isOf, async () => {
    const pids = (await Promise.all(nodes.map(processesOf))).flat();
    const thaw = closeLater(async () => signal(pids, "SIGCONT"));
    signal(pids, "SIGSTOP");
    progress(`citus: ${nodes.map(({ name }) => name).join(" and ")} frozen`);
    await sleep(frozenMs);
    await thaw();
  });
  return rowsOf(work, found);
}

/** A node that is killed ten times; BENCH_CITUS_START is the shell command that starts what is down. */
export async function crashRows(): Promise<Row[]> {
  const start = process.env["BENCH_CITUS_START"];
  if (start === undefined) throw new Error("Set BENCH_CITUS_START to a command that starts the nodes that are down.");
  const { stage, node } = await stageOfNode();
  const found = await during(stage, isStoreOf(node), async () => {
    for (let crash = 1; crash <= crashes; crash += 1) {
      const [postmaster = 0] = await processesOf(node);
      signal([postmaster], "SIGKILL");
      progress(`citus: crash ${crash} of ${node.name}`);
      await sleep(downMs);
      await run(start);
      await sleep(downMs);
    }
  });
  const internal = found.own.failed["INTERNAL"] ?? 0;
  return [
    ...rowsOf(`${crashes} crashes of a node`, found),
    { work: `${crashes} crashes of a node: 500 INTERNAL`, values: [internal], digits: 0, bound: atMost(0, 0) },
  ];
}

/**
 * A store that is moved, with all that share its shard, while it is busy; with one caller of each other store, and with so
 * many that calls queue. Each also without a move: calls may take long on a busy machine.
 */
export async function moveRows(): Promise<Row[]> {
  const rows: Row[] = [];
  const { stage, node } = await stageOfNode();
  const target = stage.nodes.find((other) => other !== node);
  const moved = stage.stores.find(({ groupId }) => groupId === node.groupId);
  if (target === undefined || moved === undefined) throw new Error("Moving a store needs two nodes.");
  const isMoved = ({ store }: StoreOfNode) => store === moved.store;
  for (const callersOfOthers of [1, callersOfStore]) {
    const load = `${callersOfOthers} caller${callersOfOthers === 1 ? "" : "s"} of each other store`;
    const others = { storesMax: Infinity, callersOfOthers };
    rows.push(...rowsOf(`nothing is moved, ${load}`, await during(stage, isMoved, () => sleep(unmovedMs), others)));
    for (const mode of ["block_writes", "force_logical"]) {
      const found = await during(stage, isMoved, () => moveThereAndBack(stage, moved, [node, target], mode), others);
      const waitMs = callersOfOthers === 1 ? 1_000 : undefined; // calls that queue wait for one another
      rows.push(...rowsOf(`moving a store by ${mode}, ${load}`, found, waitMs));
    }
  }
  return rows;
}

async function moveThereAndBack(
  stage: Stage,
  { store }: StoreOfNode,
  nodes: [Node, Node],
  mode: string,
): Promise<void> {
  for (const [from, to] of [nodes, nodes.toReversed() as [Node, Node]]) {
    progress(`citus: moving ${store} from ${from.name} to ${to.name} by ${mode}`);
    await query(
      stage.databaseUrl,
      `SELECT citus_move_shard_placement(get_shard_id_for_distribution_column('"Store"', $1::text), $2, $3, $4, $5, $6::citus.shard_transfer_mode)`,
      [store, ...addressOf(from), ...addressOf(to), mode],
    );
    await sleep(1_000);
  }
}

function addressOf({ url }: Node): [string, number] {
  const { hostname, port } = new URL(url);
  return [hostname, Number(port)];
}

export async function stageOfNode(): Promise<{ readonly stage: Stage; readonly node: Node }> {
  const stage = await setStage(storesOfNode);
  const [node] = stage.nodes;
  if (node === undefined) throw new Error("There is no node.");
  return { stage, node };
}

export function isStoreOf(node: Node): (store: StoreOfNode) => boolean {
  return ({ groupId }) => groupId === node.groupId;
}
