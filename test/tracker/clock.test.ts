import { expect, onTestFinished, test, vi } from "vitest";
import { createClock } from "../../src/tracker/clock.js";
import { stopClock } from "../support/clock.js";

test("while the machine sleeps, little more than a minute counts as watched", () => {
  vi.stubGlobal("document", { hidden: false });
  vi.stubGlobal("addEventListener", () => undefined);
  vi.stubGlobal("setInterval", () => undefined);
  onTestFinished(() => void vi.unstubAllGlobals());
  const clock = stopClock();
  const watched = createClock(() => undefined);
  watched.start();
  clock.pass(60_000); // as long as the timers of a hidden page may wait
  expect(watched.take()).toBe(60);
  clock.pass(3_600_000);
  expect(watched.take()).toBe(61);
});
