import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { closeLater } from "../resources.js";
import type { Target } from "./attacks.js";
import { nextMessage } from "./messages.js";

export interface AttackTask {
  readonly attack: number;
  readonly seconds: number;
  readonly target: Target;
}

/** What became of an attack's requests. Times are from the last byte of a request until its answer was complete. */
export interface AttackReport {
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests without an answer. */
  readonly failures: number;
  readonly firstFailure?: string | undefined;
  /** Answers that tell of an error, but for those that say that the server is busy. */
  readonly refused: number;
  readonly refusedMs: number;
  /** How long refusing bodies over 4 MiB takes. */
  readonly refusedLargeMs: number;
  readonly refusedBytes: number;
  /** Those that do not name the limit. */
  readonly unnamed: number;
  readonly firstUnnamed?: string | undefined;
  /** 503, or UNAVAILABLE. */
  readonly busy: number;
  readonly busyMs: number;
  readonly busyWithoutRetry: number;
}

const readyMs = 120_000;
const reportMs = 40_000;

/** An attacker that has made its requests. */
export interface Attacker {
  /** Attacks, and tells what came of it; undefined where the attacker did not end in time. */
  attack(): Promise<AttackReport | undefined>;
}

/** @throws {Error} where the attacker does not get ready */
export async function startAttacker(task: AttackTask): Promise<Attacker> {
  const path = fileURLToPath(new URL("attacker.ts", import.meta.url));
  const attacker = fork(path, [], { execArgv: ["--import", "tsx"], detached: true });
  const stop = closeLater(async () => void attacker.kill("SIGKILL"));
  attacker.send(task);
  if ((await nextMessage(attacker, readyMs)) === undefined)
    throw new Error(`Attacker ${task.attack} did not get ready.`);
  return {
    async attack() {
      attacker.send("go");
      const report = await nextMessage(attacker, task.seconds * 1_000 + reportMs);
      await stop();
      return report as AttackReport | undefined; // it sends nothing else
    },
  };
}
