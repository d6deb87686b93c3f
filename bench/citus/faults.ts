import { exec } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { closeLater } from "../resources.js";
import { query } from "../server.js";
import { atMost, progress, type Row } from "../table.js";
import { type Node, processesOf } from "./cluster.js";
import { callStores, type Seen } from "./load.js";
import { setStage, type Stage, type StoreOfNode } from "./stage.js";

const run = promisify(exec);
const storesOfNode = 3;
const callersOfStore = 6;
const frozenMs = 60_000;
const warmUpMs = 5_000;
const afterMs = 10_000;
const crashes = 10;
const downMs = 4_000;

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

/** A store that is moved, with all that share its shard, while it is busy as others are. */
export async function moveRows(): Promise<Row[]> {
  const rows: Row[] = [];
  const { stage, node } = await stageOfNode();
  const target = stage.nodes.find((other) => other !== node);
  const moved = stage.stores.find(({ groupId }) => groupId === node.groupId);
  for (const mode of ["block_writes", "force_logical"]) {
    const found = await during(
      stage,
      ({ store }) => store === moved?.store,
      async () => {
        for (const [from, to] of [
          [node, target],
          [target, node],
        ]) {
          if (from === undefined || to === undefined) throw new Error("Moving a store needs two nodes.");
          progress(`citus: moving ${moved?.store} from ${from.name} to ${to.name} by ${mode}`);
          await query(
            stage.databaseUrl,
            `SELECT citus_move_shard_placement(get_shard_id_for_distribution_column('"Store"', $1::text), $2, $3, $4, $5, $6::citus.shard_transfer_mode)`,
            [moved?.store, ...addressOf(from), ...addressOf(to), mode],
          );
          await sleep(1_000);
        }
      },
      Infinity,
    );
    rows.push(...rowsOf(`moving a store by ${mode}`, found, 1_000));
  }
  return rows;
}

function addressOf({ url }: Node): [string, number] {
  const { hostname, port } = new URL(url);
  return [hostname, Number(port)];
}

async function stageOfNode(): Promise<{ readonly stage: Stage; readonly node: Node }> {
  const stage = await setStage(storesOfNode);
  const [node] = stage.nodes;
  if (node === undefined) throw new Error("There is no node.");
  return { stage, node };
}

interface Found {
  readonly own: Seen;
  readonly elsewhere: Seen;
}

function isStoreOf(node: Node): (store: StoreOfNode) => boolean {
  return ({ groupId }) => groupId === node.groupId;
}

/** @param isHit whether something happens to a store @param othersMax how many of the others are busy */
async function during(
  stage: Stage,
  isHit: (store: StoreOfNode) => boolean,
  work: () => Promise<void>,
  othersMax = 1,
): Promise<Found> {
  const elsewhere = stage.stores.filter((store) => !isHit(store)).slice(0, othersMax);
  const callers = [stage.stores.filter(isHit), elsewhere].map((stores) => callStores(stage, stores, callersOfStore));
  await sleep(warmUpMs);
  for (const { forget } of callers) forget();
  await work();
  await sleep(afterMs);
  const [own, others] = await Promise.all(callers.map(({ end }) => end()));
  if (own === undefined || others === undefined) throw new Error("There are two kinds of stores.");
  progress(`  its stores: ${JSON.stringify(own)}`);
  progress(`  others: ${JSON.stringify(others)}`);
  await checkStored(stage, own.accepted + others.accepted);
  return { own, elsewhere: others };
}

const countedBefore = new WeakMap<Stage, number>();

/** @throws {Error} where an accepted event was not stored */
async function checkStored(stage: Stage, accepted: number): Promise<void> {
  let stored = 0;
  for (const { store } of stage.stores) {
    const [row] = await query(stage.databaseUrl, `SELECT count(*)::int FROM "ShowEvent" WHERE "storeId" = $1`, [store]);
    stored += row.count;
  }
  const added = stored - (countedBefore.get(stage) ?? 0);
  countedBefore.set(stage, stored);
  progress(`  ${accepted} events accepted, ${added} stored`);
  if (added < accepted) throw new Error(`${accepted} events were accepted and ${added} stored.`);
}

function rowsOf(work: string, { own, elsewhere }: Found, waitMs?: number): Row[] {
  const failed = Object.values(elsewhere.failed).reduce((sum, count) => sum + count, 0);
  const detail = `of ${elsewhere.calls}; of ${own.calls} calls of its stores failed ${JSON.stringify(own.failed)}`;
  return [
    { work: `${work}: failed calls of stores elsewhere`, values: [failed], digits: 0, detail, bound: atMost(0, 0) },
    {
      work: `${work}: longest call elsewhere`,
      values: [elsewhere.longestMs],
      digits: 0,
      unit: "ms",
      ...(waitMs !== undefined && { bound: atMost(waitMs, waitMs / 4) }),
    },
  ];
}

function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // it has ended
    }
  }
}
