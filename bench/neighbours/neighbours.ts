import { setTimeout as sleep } from "node:timers/promises";
import { closeAll, temporaryFolder } from "../resources.js";
import { createDatabase } from "../server.js";
import { atMost, isMet, progress, type Row } from "../table.js";
import { type Attacker, startAttacker } from "./attack.js";
import { attacks } from "./attacks.js";
import { dashboardRows } from "./dashboards.js";
import { frozenRows } from "./frozen.js";
import { migrationRows } from "./migration.js";
import { owedRows } from "./owed.js";
import { searchRows } from "./search.js";
import { memoryPeak, resetMemoryPeak } from "./memory.js";
import { recover, settle } from "./recover.js";
import {
  attackRows,
  memoryRow,
  neighbourRows,
  onEmbedded,
  onPostgresql,
  row,
  unmeasured,
  type Waits,
  withoutBound,
} from "./rows.js";
import { prepare, setStage, type Stage } from "./stage.js";

const seconds = Number(process.env["BENCH_SECONDS"] ?? 10);
const idleSeconds = Math.min(5, seconds);
/** Parts to run, by number or name; all by default. */
const wanted = process.env["BENCH_ATTACKS"]?.split(",");
const hasNumbers = wanted?.some((name) => /^\d+$/u.test(name)) === true;
const together = [3, 6, 8, 10, 12];
const figures: Readonly<Record<string, (stage: Stage, databaseUrl: string) => Promise<Row[]>>> = {
  search: searchRows,
  owed: owedRows,
  14: frozenRows,
  15: migrationRows,
};
const embeddedAttacks = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16];

/** What others notice while one store does what is hostile or clumsy. */
export async function benchNeighbours(): Promise<Row[]> {
  const rows: Row[] = [];
  await part(rows, "neighbours on PostgreSQL", () => onPostgresqlServer(rows));
  await closeAll();
  if (isWanted("dashboards"))
    await part(rows, "18, dashboards", async () => void rows.push(...(await dashboardRows())));
  await closeAll();
  if (isWanted("embedded")) await part(rows, "neighbours on the embedded engine", () => onEmbeddedEngine(rows));
  return rows;
}

async function onPostgresqlServer(rows: Row[]): Promise<void> {
  const numbers = Object.keys(attacks).filter(isWanted);
  const owed = ["search", "owed"].filter(isWanted);
  const held = ["14", "15"].filter(isWanted);
  const isTogether = isWanted("together");
  if (numbers.length + owed.length + held.length === 0 && !isTogether) return;
  progress("neighbours, on PostgreSQL");
  const databaseUrl = await createDatabase();
  const stage = await setStage({ DATABASE_URL: databaseUrl });
  await prepare(stage, new Set([...numbers, ...owed, ...held, ...(isTogether ? together.map(String) : [])]));
  await measureIdle(stage, rows, "", onPostgresql);
  const run = { stage, rows, waits: onPostgresql };
  for (const name of owed) await measure(run, name, () => figures[name]?.(stage, databaseUrl));
  for (const number of numbers) {
    const name = `${number}, ${attacks[Number(number)]?.name}`;
    await measure(run, name, () => attack(run, name, [Number(number)], seconds));
  }
  const name = `${together.join(", ")} together`;
  if (isTogether) await measure(run, name, () => attack(run, name, together, 3 * seconds));
  for (const number of held) await measure(run, number, () => figures[number]?.(stage, databaseUrl));
}

async function onEmbeddedEngine(rows: Row[]): Promise<void> {
  const numbers = embeddedAttacks.filter((number) => !hasNumbers || isWanted(String(number)));
  progress("neighbours, on the embedded engine");
  const stage = await setStage({ DATA_DIR: temporaryFolder() });
  await prepare(stage, new Set(numbers.map(String)));
  await measureIdle(stage, rows, "embedded, ", onEmbedded);
  const run = { stage, rows, waits: onEmbedded };
  for (const number of numbers) {
    const name = `embedded, ${number}, ${attacks[number]?.name}`;
    await measure(run, name, () => attack(run, name, [number], seconds));
  }
}

interface Run {
  readonly stage: Stage;
  readonly rows: Row[];
  readonly waits: Waits;
}

async function measureIdle(stage: Stage, rows: Row[], prefix: string, waits: Waits): Promise<void> {
  stage.neighbour.pause(false);
  await settle(stage);
  const { seen } = await stage.neighbour.during(() => sleep(idleSeconds * 1_000));
  rows.push(...neighbourRows(`${prefix}no attack`, seen, waits));
}

/** Measures, and waits until the server has come back from it. */
async function measure({ stage, rows }: Run, name: string, work: () => Promise<Row[]> | undefined): Promise<void> {
  progress(`  ${name}`);
  await part(rows, name, () => settle(stage));
  await part(rows, name, async () => void rows.push(...((await work()) ?? [])));
  await part(rows, name, async () => {
    if ((await recover(stage)) === "replaced")
      rows.push(row(`${name}: the server had to be replaced`, 1, { bound: atMost(0, 0) }));
  });
}

/** Lets the attacks go at one time. */
async function attack(
  { stage, waits }: Run,
  name: string,
  numbers: readonly number[],
  attackSeconds: number,
): Promise<Row[]> {
  const target = stage.target();
  const attackers: Attacker[] = [];
  for (const number of numbers) attackers.push(await startAttacker({ attack: number, seconds: attackSeconds, target }));
  resetMemoryPeak(stage.server.pid);
  const { seen, result: reports } = await stage.neighbour.during(() =>
    Promise.all(attackers.map((attacker) => attacker.attack())),
  );
  const peak = memoryPeak(stage.server.pid);
  const { errors, requests, longestMs } = seen.all;
  progress(`    errors ${errors} of ${requests}, longest ${longestMs.toFixed(0)} ms, ${peak.toFixed(0)} MB`);
  const ofAttackers = reports.flatMap((report, index) =>
    attackRows(numbers.length === 1 ? name : `${name}: ${numbers[index]}`, report),
  );
  const others = [memoryRow(name, peak), ...ofAttackers];
  return [...neighbourRows(name, seen, waits), ...(waits === onPostgresql ? others : others.map(withoutBound))];
}

/**
 * What fails is a row that says so, and keeps nothing else from being measured. Rows that miss their bound are told at once: a
 * run takes long, and one that is interrupted prints no table.
 */
async function part(rows: Row[], name: string, work: () => Promise<void>): Promise<void> {
  const before = rows.length;
  try {
    await work();
  } catch (error) {
    progress(`  ${name}: ${error instanceof Error ? error.stack : String(error)}`);
    rows.push(unmeasured(name, error));
  }
  for (const { work: missed, values } of rows.slice(before).filter((found) => !isMet(found))) {
    progress(`    missed: ${missed}: ${values[0]?.toFixed(1)}`);
  }
}

function isWanted(name: string): boolean {
  return wanted === undefined || wanted.includes(name);
}
