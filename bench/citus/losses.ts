import { setTimeout as sleep } from "node:timers/promises";
import type { RunningService } from "../server.js";
import { atMost, progress, type Row } from "../table.js";
import { processesOf, signal } from "./cluster.js";
import { isStoreOf, run, stageOfNode } from "./faults.js";
import { callStores, type Seen } from "./load.js";
import { serveAt, setStage, type Stage } from "./stage.js";
import { callersOfStore, checkStored, during, rowsOf } from "./watch.js";

const storesOfNode = 2;
const warmUpMs = 5_000;
const downMs = 4_000;
const lostMs = 30_000;
const afterMs = 15_000;

/** A node that is lost and replaced by its standby; BENCH_CITUS_PROMOTE is the shell command that does that. */
export async function promoteRows(): Promise<Row[]> {
  const promote = commandOf("BENCH_CITUS_PROMOTE", "that replaces the first node by its standby");
  const { stage, node } = await stageOfNode();
  let takesMs = NaN;
  const found = await during(stage, isStoreOf(node), async () => {
    const [postmaster = 0] = await processesOf(node);
    signal([postmaster], "SIGKILL");
    progress(`citus: ${node.name} is lost`);
    await sleep(downMs);
    const begun = performance.now();
    await run(promote);
    takesMs = performance.now() - begun;
    progress("citus: replaced");
  });
  const work = `a node lost for ${downMs / 1_000} s, then replaced by its standby`;
  const ms = { digits: 0, unit: "ms" };
  return [
    ...rowsOf(work, found),
    { work: `${work}: no successful call of its own stores for`, values: [found.own.longestGapMs], ...ms },
    { work: `${work}: replacing it takes`, values: [takesMs], ...ms },
  ];
}

/** The coordinator killed, and started again by BENCH_CITUS_START, while servers are connected to it and to the nodes. */
export async function coordinatorRows(): Promise<Row[]> {
  const start = commandOf("BENCH_CITUS_START", "that starts the nodes that are down");
  const stage = await setStage(storesOfNode);
  const servers = await Promise.all(stage.nodes.map(({ url }) => serveAt(url)));
  const ofNodes = stage.nodes.map((node, number) => {
    const store = stage.stores.find(isStoreOf(node));
    return callStores(servers[number] ?? stage, store === undefined ? [] : [store], callersOfStore);
  });
  const through = callStores(stage, stage.stores.filter((_, number) => number % storesOfNode === 1).slice(0, 1), 2);
  const callers = [...ofNodes, through];
  await sleep(warmUpMs);
  for (const { forget } of callers) forget();
  const [postmaster = 0] = await processesOf(stage.coordinator);
  signal([postmaster], "SIGKILL");
  progress("citus: the coordinator is lost");
  await sleep(lostMs / 2);
  progress(`citus: /readyz ${JSON.stringify(await readiness([stage, ...servers]))}`);
  await sleep(lostMs / 2);
  await run(start);
  progress("citus: the coordinator is back");
  await sleep(afterMs);
  const seen = await Promise.all(callers.map(({ end }) => end()));
  for (const one of seen) progress(`  ${JSON.stringify(one)}`);
  await checkStored(
    stage,
    seen.reduce((sum, { accepted }) => sum + accepted, 0),
  );
  return coordinatorFigures(stage, seen.slice(0, -1), seen.at(-1));
}

function coordinatorFigures(stage: Stage, atNodes: readonly Seen[], through: Seen | undefined): Row[] {
  const failedOf = ({ failed }: Seen) => Object.values(failed).reduce((sum, count) => sum + count, 0);
  const work = `the coordinator lost for ${lostMs / 1_000} s`;
  const calls = atNodes.reduce((sum, seen) => sum + seen.calls, 0);
  const failed = atNodes.reduce((sum, seen) => sum + failedOf(seen), 0);
  return [
    {
      work: `${work}: failed calls of servers at the nodes`,
      values: [failed],
      digits: 0,
      detail: `of ${calls}; at the coordinator ${JSON.stringify(through?.failed)} of ${through?.calls}`,
      bound: atMost(0, 0),
    },
    {
      work: `${work}: longest call of servers at the ${stage.nodes.length} nodes`,
      values: [Math.max(...atNodes.map(({ longestMs }) => longestMs))],
      digits: 0,
      unit: "ms",
    },
    {
      work: `${work}: no successful call of the server at the coordinator for`,
      values: [through?.longestGapMs ?? NaN],
      digits: 0,
      unit: "ms",
    },
  ];
}

async function readiness(services: readonly Pick<RunningService, "url">[]): Promise<number[]> {
  return Promise.all(services.map(async ({ url }) => (await fetch(`${url}/readyz`)).status));
}

function commandOf(variable: string, does: string): string {
  const command = process.env[variable];
  if (command === undefined) throw new Error(`Set ${variable} to a shell command ${does}.`);
  return command;
}
