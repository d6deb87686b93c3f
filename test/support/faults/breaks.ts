import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "./random.js";

/** A request as its bytes. */
export interface WholeRequest {
  readonly head: string;
  readonly body: Buffer;
}

/** What a request that is not broken off takes. */
export interface Whole {
  readonly status: number;
  /** Milliseconds until its end, or the first event of a stream. */
  readonly ms: number;
  readonly bytes: number;
  /** The beginning of the answer. */
  readonly text: string;
}

const answerMs = 60_000;

/** Sends a request and reads all of the answer; of a stream, the beginning. */
export async function answered(url: string, { head, body }: WholeRequest, isStream: boolean): Promise<Whole> {
  const started = performance.now();
  const socket = await connected(url);
  let text = "";
  const done = new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      text = `${text}${chunk.toString("latin1")}`.slice(0, 2_000);
      if (isStream && text.includes("liveStreamAnalytics")) resolve();
    });
    socket.once("close", () => resolve());
  });
  socket.write(head);
  socket.write(body);
  await Promise.race([done, sleep(answerMs)]);
  const [bytes, ms] = [socket.bytesRead, performance.now() - started];
  socket.destroy();
  return { status: Number(/^HTTP\/1\.1 (\d{3})/u.exec(text)?.[1]), ms, bytes, text };
}

const moments = ["in its head", "in its body", "while it waits or is worked on", "in its answer"] as const;
const manners = ["reset", "closed", "half closed"] as const;

/** Sends a request and breaks its connection at a random moment. @returns what was done, for a message */
export async function breakOff(url: string, { head, body }: WholeRequest, whole: Whole, random: Random) {
  const moment = moments[random.whole(0, 3)] ?? "in its answer";
  const manner = manners[random.whole(0, 2)] ?? "reset";
  const socket = await connected(url);
  const closed = once(socket, "close").catch(() => undefined);
  const pause = (ms: number) => Promise.race([sleep(random.whole(0, Math.ceil(ms))), closed]);
  if (moment === "in its head") {
    socket.write(head.slice(0, random.whole(1, head.length - 1)));
    await pause(20);
  } else {
    socket.write(head);
    socket.write(moment === "in its body" ? body.subarray(0, random.whole(0, Math.max(0, body.length - 1))) : body);
    if (moment === "in its answer") await Promise.race([received(socket, random.whole(1, whole.bytes)), closed]);
    else await pause(1.2 * whole.ms);
  }
  await end(socket, manner, closed);
  return `${moment}, ${manner}`;
}

async function connected(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = createConnection({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined); // a reset is a way to close
  await once(socket, "connect");
  return socket;
}

/** Reads so much, and no more: what else is sent waits in the server. */
async function received(socket: Socket, bytes: number): Promise<void> {
  socket.on("data", () => {
    if (socket.bytesRead >= bytes) socket.pause().emit("enough");
  });
  await Promise.race([once(socket, "enough"), sleep(answerMs)]);
}

async function end(socket: Socket, manner: (typeof manners)[number], closed: Promise<unknown>): Promise<void> {
  if (manner === "reset") socket.resetAndDestroy();
  else if (manner === "closed") socket.destroy();
  else {
    socket.end();
    socket.resume();
    await Promise.race([closed, sleep(200)]);
    socket.destroy();
  }
  await closed;
}
