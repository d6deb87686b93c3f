import {
  ForksPoolWorker,
  type PoolOptions,
  type PoolRunnerInitializer,
  type PoolWorker,
  type Vitest,
  type WorkerRequest,
} from "vitest/node";

type Listener = (argument: any) => void;

const name = "shared-forks";
/** Processes whose project has no further file for them. */
const idle: ForksPoolWorker[] = [];
let ownerOfIdle: Vitest | undefined;
/** Then processes are asked to stop in the middle of a file. */
let isCancelled = false;

/**
 * Processes that run the files of all projects, one project after the other. Those of Vitest end with their project: the next one
 * would import the service anew, and run code that V8 has not compiled yet. A module is evaluated once for all projects, as it is
 * for all files of one, so it must not keep what a project provides. What a test says to Vitest by `vi.setConfig` would stay, too:
 * lint refuses it.
 */
export const sharedForks: PoolRunnerInitializer = {
  name,
  createPoolWorker(options) {
    const { vitest } = options.project;
    if (vitest !== ownerOfIdle) own(vitest);
    return new SharedFork(options);
  },
};

function own(vitest: Vitest): void {
  ownerOfIdle = vitest;
  vitest.onCancel(() => {
    isCancelled = true;
  });
  vitest.onClose(endIdle);
}

async function endIdle(): Promise<void> {
  await Promise.all(idle.splice(0).map((fork) => fork.stop()));
}

/** One project's use of a process. */
class SharedFork implements PoolWorker {
  readonly name = name;
  readonly cacheFs = true; // as Vitest's forks
  readonly #options: PoolOptions;
  readonly #listeners: (readonly [event: string, listener: Listener])[] = [];
  #fork: ForksPoolWorker | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const used = idle.pop();
    this.#fork = used ?? new ForksPoolWorker(this.#options);
    if (used === undefined) await this.#fork.start();
  }

  on(event: string, listener: Listener): void {
    this.#listeners.push([event, listener]);
    this.#fork?.on(event, listener);
  }

  off(event: string, listener: Listener): void {
    this.#fork?.off(event, listener);
  }

  /** Vitest asks a process to stop before it ends it, and starts the next project's at once. */
  send(message: WorkerRequest): void {
    const isWatching = this.#options.project.vitest.config.watch; // a later run needs modules as they are then
    if (message.type === "stop" && !isWatching && !isCancelled) this.#handOver();
    else this.#fork?.send(message);
  }

  deserialize(data: unknown): unknown {
    return data;
  }

  /** Ends the process unless it was handed over. */
  async stop(): Promise<void> {
    await this.#fork?.stop();
    this.#fork = undefined;
  }

  #handOver(): void {
    if (this.#fork === undefined) return;
    for (const [event, listener] of this.#listeners) this.#fork.off(event, listener);
    idle.push(this.#fork);
    this.#fork = undefined;
    const answer = { __vitest_worker_response__: true, type: "stopped" };
    for (const [event, listener] of this.#listeners) if (event === "message") listener(answer);
  }
}
