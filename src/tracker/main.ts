// The script of shops' pages (docs/tracking.md). Nothing in it may throw into the page.
import { attempt } from "./guard.js";
import { createTracker, type Tracker } from "./tracker.js";

type Command = readonly [name: keyof Tracker, ...values: unknown[]];

/** The page's own queue at first, then this script. */
interface Queue {
  q?: readonly Command[];
  push?: (command: Command) => void;
}

/** Whose events follow: first among the calls made before the script loaded. */
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
  // A prerendered page has no viewer yet.
  if ("prerendering" in document && document.prerendering === true) {
    document.addEventListener("prerenderingchange", start, { once: true });
  } else start();
});
