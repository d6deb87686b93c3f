// The script that a shop's page loads: docs/tracking.md describes it. Nothing in it may throw into that page.
import { attempt } from "./guard.js";
import { createTracker, type Tracker } from "./tracker.js";

type Command = readonly [name: keyof Tracker, ...values: unknown[]];

/** What the page calls: at first its own queue, then this script. */
interface Queue {
  q?: readonly Command[];
  push?: (command: Command) => void;
}

/** These say whose events follow, so they come first among those that were called before the script was here. */
const first: ReadonlySet<string> = new Set(["consent", "identify"]);

function begin(page: { vitrine?: Queue & { isLoaded?: true } }, script: Element | null): void {
  const queue = (page.vitrine ??= {});
  if (!(script instanceof HTMLScriptElement) || queue.isLoaded) return;
  queue.isLoaded = true;
  const tracker = createTracker(new URL("../collect/v1", script.src).href, script.dataset);
  const run = (command: Command): void =>
    attempt(() => {
      const [name, ...values] = command;
      (tracker[name] as (...given: readonly unknown[]) => unknown)(...values);
    });
  const waiting = [...(queue.q ?? [])];
  queue.q = [];
  queue.push = run;
  for (const isFirst of [true, false]) {
    for (const command of waiting) if (attempt(() => first.has(command[0])) === isFirst) run(command);
  }
}

attempt(() => {
  const script = document.currentScript ?? document.querySelector('script[data-key][src*="/tracker/v1.js"]');
  const start = (): void => attempt(() => begin(window as object, script));
  // A page that is rendered before anybody asked for it has no viewer yet.
  if ("prerendering" in document && document.prerendering === true) {
    document.addEventListener("prerenderingchange", start, { once: true });
  } else start();
});
