import type { MessagePort } from "node:worker_threads";

/** Messages of a thread, in order. */
export interface Inbox<Message> {
  /** Waits for the next one. @throws what `fail` got, once all messages that came before are taken */
  next(): Promise<Message>;
  fail(error: unknown): void;
}

/** @param waitMs for the next message: after that, `late` gives the error */
export function inbox<Message>(
  port: MessagePort,
  { waitMs, late }: { readonly waitMs: number; readonly late: () => Error },
): Inbox<Message> {
  const arrived: Message[] = [];
  let heard = 0;
  let failure: { readonly error: unknown } | undefined;
  let wake: () => void = () => undefined;
  const fail = (error: unknown): void => {
    failure ??= { error };
    wake();
  };
  port.on("message", (message: Message) => {
    heard += 1;
    arrived.push(message);
    wake();
  });
  /** After a turn of the event loop: where that was busy, messages wait there. */
  const failUnlessHeard = (): void => {
    const before = heard;
    setImmediate(() => {
      if (heard === before) fail(late());
    });
  };
  return {
    fail,
    async next() {
      for (;;) {
        const message = arrived.shift();
        if (message !== undefined) return message;
        if (failure !== undefined) throw failure.error;
        const timer = setTimeout(failUnlessHeard, waitMs);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        clearTimeout(timer);
      }
    },
  };
}
