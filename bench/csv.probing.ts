import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ProbeReport } from "./csv.probe.js";
import { makeProduct } from "./products.js";
import { bulkRequest, readRequest, send } from "./requests.js";
import { closeLater } from "./resources.js";
import { type BenchServer, startServer } from "./server.js";

const warmUpMs = 1_000;
const idleMs = 1_000;

/** What others saw of the server while it was at work, and what the work took of memory. */
export interface Probed {
  readonly idle: ProbeReport;
  readonly busy: ProbeReport;
  readonly peakMegabytes: number;
}

/** Watches a freshly started server at work, with a client that only waits for its answers. */
export async function probeDuring(
  databaseUrl: string,
  work: (server: BenchServer) => Promise<unknown>,
): Promise<Probed> {
  const server = await startServer({ DATABASE_URL: databaseUrl });
  const watched = { ...makeProduct(0), id: "watched", sku: "WATCHED" };
  await send(server, bulkRequest(server.token, [watched]));
  const { path } = readRequest(server.token, watched.id);
  const probe = fork(fileURLToPath(new URL("csv.probe.ts", import.meta.url)), [server.url, path, server.token], {
    execArgv: ["--import", "tsx"],
  });
  const stop = closeLater(async () => {
    const ended = probe.exitCode === null && probe.signalCode === null ? once(probe, "exit") : undefined;
    probe.kill();
    await ended;
  });
  const report = async () => {
    const ended = new Promise<never>((_, reject) => {
      probe.once("exit", () => reject(new Error("The probe ended.")));
    });
    probe.send("report");
    const [answer] = await Promise.race([once(probe, "message"), ended]);
    return answer as ProbeReport; // it sends nothing else
  };
  await report(); // it has started
  await sleep(warmUpMs);
  await report();
  await sleep(idleMs);
  const idle = await report();
  await work(server);
  const busy = await report();
  const peakMegabytes = memoryPeak(server.pid);
  await stop();
  await server.stop();
  return { idle, busy, peakMegabytes };
}

/** The most memory that the process has held since it started, in MB of a million bytes. */
function memoryPeak(pid: number): number {
  const kibibytes = /VmHWM:\s+(\d+) kB/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kibibytes) * 1_024) / 1e6;
}
