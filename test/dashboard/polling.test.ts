import { expect, test } from "vitest";
import { streamOrPoll } from "../../src/dashboard/connection/polling.js";
import { stopTimers } from "../support/clock.js";

/** Figures that arrive when the test says so: by the stream, and as answers of the query. */
function openFigures() {
  const timers = stopTimers();
  let stream: (value: string) => void = () => undefined;
  const answers: ((value: string) => void)[] = [];
  const values = streamOrPoll<string>({
    open: async function* (onData) {
      for (;;) {
        const value = await new Promise<string>((resolve) => (stream = resolve));
        onData();
        yield value;
      }
    },
    poll: () => new Promise((resolve) => void answers.push(resolve)),
  });
  return { timers, values, answers, deliver: (value: string) => stream(value) };
}

const live = { done: false, value: { value: "live", isPolled: false } };
const polled = { done: false, value: { value: "polled", isPolled: true } };

test("a slow server is not mistaken for a proxy that buffers: what the stream delivers before the query's answer counts", async () => {
  const { timers, values, answers, deliver } = openFigures();
  const first = values.next();
  await timers.run(7_000);
  expect(answers).toHaveLength(1);
  deliver("live");
  expect(await first).toEqual(live);
  answers[0]?.("polled");
  const second = values.next();
  await timers.run(20_000);
  deliver("live");
  expect(await second).toEqual(live);
  expect(answers).toHaveLength(1);
});

test("while the stream is held back, figures are queried after 5 seconds and every 10 from then on, until it delivers", async () => {
  const { timers, values, answers, deliver } = openFigures();
  for (const [index, waitMs] of [5_000, 10_000, 10_000].entries()) {
    const next = values.next();
    await timers.run(waitMs - 1);
    expect(answers).toHaveLength(index);
    await timers.run(1);
    answers[index]?.("polled");
    expect(await next).toEqual(polled);
  }
  const last = values.next();
  deliver("live");
  expect(await last).toEqual(live);
});
