import { setTimeout as sleep } from "node:timers/promises";
import type { TestStore } from "../app.js";
import { within } from "../busy.js";
import { type Answered, answerTo, type Call } from "./outage.js";
import { until } from "../until.js";

export interface Load {
  /** Resolves after so many further answers of a kind. */
  further(how: string, count: number): Promise<void>;
  stop(): Promise<readonly Answered[]>;
}

const pauseMs = 150;

/** Makes each of the calls over and over. */
export function sendUntilTold(store: TestStore, all: readonly Call[]): Load {
  const answers: Answered[] = [];
  const over = new AbortController();
  const senders = all.map(async (call) => {
    while (!over.signal.aborted) {
      answers.push(await answerTo(store, call));
      await sleep(pauseMs); // the machine has other things to do
    }
  });
  const ended = Promise.all(senders);
  ended.catch(() => undefined); // thrown by `stop`
  return {
    async further(how, count) {
      const before = answers.length;
      const enough = () => answers.slice(before).filter((answer) => answer.how === how).length >= count;
      await until(enough, `${count} answers: ${how}`, within(60_000));
    },
    async stop() {
      over.abort();
      await ended;
      return answers;
    },
  };
}

/** How requests were answered, each way once. */
export function hows(answers: readonly Answered[]): string[] {
  return [...new Set(answers.map(({ how }) => how))].toSorted();
}

export function slowestMs(answers: readonly Answered[]): number {
  return Math.max(...answers.map(({ ms }) => ms));
}
