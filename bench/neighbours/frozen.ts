import { spawn } from "node:child_process";
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { closeLater } from "../resources.js";
import { commandEnvironment, query } from "../server.js";
import { atMost, type Row } from "../table.js";
import { recording, type Target } from "./attacks.js";
import { neighbourRows, onPostgresql, row } from "./rows.js";
import { send } from "./send.js";
import { largeShow } from "./shows.js";
import type { Stage } from "./stage.js";

const sessionName = "vitrine_frozen";
const everyMs = 500;
const giveUpMs = 60_000;
const attempts = 10;

/** How long a show takes no events after a process froze in the middle of rebuilding it. */
export async function frozenRows(stage: Stage, databaseUrl: string): Promise<Row[]> {
  const target = stage.target();
  const unfreeze = await freezeRebuild(databaseUrl, target.store);
  try {
    const { seen, result: heldMs } = await stage.neighbour.during(() => untilAccepted(target));
    const name = "14, a process frozen in a rebuild";
    const detail = heldMs >= giveUpMs ? "and longer" : "until an event is accepted";
    return [
      row(`${name}: how long the show takes no events`, heldMs / 1_000, {
        digits: 1,
        unit: "s",
        detail,
        bound: atMost(30, 10),
      }),
      ...neighbourRows(name, seen, onPostgresql),
    ];
  } finally {
    await unfreeze();
  }
}

/** Stops a rebuild while its transaction is open and has written something. @throws {Error} where that is never seen */
async function freezeRebuild(databaseUrl: string, store: string): Promise<() => Promise<void>> {
  const named = new URL(databaseUrl);
  named.searchParams.set("application_name", sessionName);
  const env = commandEnvironment({ DATABASE_URL: named.href });
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const rebuild = spawn(process.execPath, ["dist/main.js", "analytics", "rebuild", store, largeShow], {
      env,
      stdio: "ignore",
    });
    const kill = closeLater(async () => void rebuild.kill("SIGKILL"));
    while (rebuild.exitCode === null && !(await isWriting(databaseUrl))) await sleep(10);
    rebuild.kill("SIGSTOP");
    await sleep(200); // a commit that was under way has ended
    if (rebuild.exitCode === null && (await isWriting(databaseUrl))) return kill;
    await kill();
  }
  throw new Error("No transaction of a rebuild was seen that stayed open.");
}

async function isWriting(databaseUrl: string): Promise<boolean> {
  const statement = `SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND backend_xid IS NOT NULL AND datname = current_database()`;
  return (await query(databaseUrl, statement, [sessionName])).length > 0;
}

/** Sends an event every half second, without waiting for earlier answers. @returns the time until one is accepted, in ms */
async function untilAccepted(target: Target): Promise<number> {
  const start = performance.now();
  const over = new AbortController();
  setMaxListeners(0, over.signal); // each request listens
  const accepted: number[] = [];
  const sendOne = async () => {
    const { status, text } = await send(target, recording(largeShow, 1), over.signal);
    if (status === 200 && text.includes('"accepted":1')) accepted.push(performance.now() - start);
  };
  while (accepted.length === 0 && performance.now() - start < giveUpMs) {
    sendOne().catch(() => undefined); // the next one follows
    await sleep(everyMs);
  }
  over.abort();
  return accepted[0] ?? giveUpMs;
}
