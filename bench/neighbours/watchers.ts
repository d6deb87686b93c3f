// Half of the subscribers of bench/neighbours/dashboards.ts, in a process of its own. It reads bytes as they come and looks into
// those of a few of them, so that it takes little of the processors that the server needs.
import { setTimeout as sleep } from "node:timers/promises";
import type { Opened, Watched, WatchersTask } from "./dashboards.js";
import { dashboard, streamEnd, subscribe } from "./subscribe.js";

const openAtOnce = 50;
const openMs = 180_000;

const total = /"orders":\{[^}]*"total":(\d+)\}/gu;
const values: Watched["values"][number][] = [];
/** A subscriber who is looked at. */
interface Sample {
  readonly lsId: string;
  readonly subscriber: string;
}

const counts = { opened: 0, ended: 0, bytes: 0 };

process.once("message", (task: WatchersTask) => {
  void openAll(task).then((opened) => process.send?.(opened));
  process.once("message", () => process.send?.({ ended: counts.ended, bytes: counts.bytes, values } satisfies Watched));
});
process.once("disconnect", () => process.exit());

async function openAll({ url, shows, subscribers, sampled, from }: WatchersTask): Promise<Opened> {
  const all = shows.flatMap((show) => Array.from({ length: subscribers }, (_, index) => ({ show, index })));
  let next = 0;
  const end = performance.now() + openMs;
  const open = async () => {
    for (let place = all[next++]; place !== undefined && performance.now() < end; place = all[next++]) {
      const { show, index } = place;
      const body = dashboard(show.lsId, new Date(from));
      await watch(
        { url, token: show.token },
        body,
        index < sampled ? { lsId: show.lsId, subscriber: `${show.lsId} ${index}` } : undefined,
        end,
      );
    }
  };
  await Promise.all(Array.from({ length: openAtOnce }, open));
  return { opened: counts.opened };
}

/** Waits for the first bytes of the answer. */
async function watch(server: { url: string; token: string }, body: string, sample: Sample | undefined, end: number) {
  const socket = subscribe(server, body);
  let text = "";
  let isOpen = false;
  let isClosed = false;
  socket.on("error", () => undefined); // it is closed then
  socket.once("close", () => {
    isClosed = true;
    counts.ended += 1;
  });
  await new Promise<void>((resolve) => {
    socket.once("close", resolve);
    void sleep(Math.max(0, end - performance.now()), undefined, { ref: false }).then(() => resolve());
    socket.on("data", (part: Buffer) => {
      counts.bytes += part.byteLength;
      if (part.includes(streamEnd)) socket.destroy();
      if (!isOpen) {
        isOpen = part.toString("latin1", 0, 12) === "HTTP/1.1 200";
        if (isOpen) counts.opened += 1;
        else socket.destroy();
        resolve();
      }
      if (sample !== undefined) text = look(sample, text + part.toString("latin1"));
    });
  });
  if (!isOpen && !isClosed) socket.destroy();
}

/** Notes the totals that came. @returns what is left of the text: its end may be the beginning of a total */
function look(sample: Sample, text: string): string {
  let rest = 0;
  for (const match of text.matchAll(total)) {
    rest = match.index + match[0].length;
    values.push({ ...sample, orders: Number(match[1]), at: Date.now() });
  }
  return text.slice(Math.max(rest, text.length - 200));
}
