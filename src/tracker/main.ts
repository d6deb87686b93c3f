// The script of shops' pages (docs/tracking.md). Nothing in it may throw into the page.
import { attempt, on } from "./guard.js";
import { log } from "./log.js";
import { type Attributes, createTracker, type Tracker } from "./tracker.js";

type Command = readonly [name: keyof Tracker, ...values: unknown[]];

/** The page's own queue at first; then the calls so far, for scripts of other shows that the page adds. */
interface Queue {
  q?: Command[];
  push?: (command: Command) => void;
  viewer?: () => string;
  /** The page's first script has begun. */
  isLoaded?: true;
  key?: string | undefined;
  script?: Element;
  /** Where it was loaded: a library for navigation may keep the element. */
  page?: string | undefined;
}

/** Whose events follow: first among the calls made before the script loaded. */
const first = /^(?:init|debug|consent|identify)\b/u;
/** What concerns one show: that of the page's first script. */
const single = /^(?:init|show|addToCart)$/u;

/** How many calls scripts that are added later get. */
const commandsMax = 100;

function begin(window: { vitrine?: Queue }, script: HTMLScriptElement): void {
  const { vitrine: found } = window;
  // An element with this id has no such method.
  const queue: Queue = found?.push ? found : {};
  window.vitrine = queue;
  const { searchParams, pathname } = new URL(script.src);
  const attributes: Attributes = Object.assign(Object.fromEntries(searchParams), script.dataset);
  const { key, show, channel } = attributes;
  const page = location.href.split("#")[0];
  const others = queue.isLoaded && queue.push;
  const isElsewhere = !queue.script?.isConnected || queue.page !== page;
  if (!others || (queue.key === key && isElsewhere)) {
    Object.assign(queue, { key, script, page });
    if (others) return others(["show", show, channel]);
  }
  // Next to the script, whatever its folder is called.
  const endpoint = pathname.includes("/tracker/") ? "../collect/v1" : "v1";
  const tracker = createTracker(new URL(endpoint, script.src).href, attributes);
  queue.viewer ??= tracker.viewer;
  const run = (command: Command): void => {
    try {
      const [name, ...values] = command;
      if (!others || !single.test(name)) (tracker[name] as (...given: readonly unknown[]) => unknown)(...values);
    } catch {
      log("ignored", command);
    }
  };
  const commands = (queue.q ??= []);
  const rank = (command: Command) => (first.test(String(command)) ? 0 : 1);
  commands.toSorted((one, other) => rank(one) - rank(other)).forEach(run);
  queue.isLoaded = true;
  queue.push = (command) => {
    if (others) others(command);
    else if (commands.length < commandsMax) commands.push(command);
    run(command);
  };
}

attempt(() => {
  const script = document.currentScript;
  const start = (): void => begin(window as object, script as HTMLScriptElement);
  // A prerendered page has no viewer yet. The event comes once.
  if ((document as { prerendering?: boolean }).prerendering) on("prerenderingchange", start);
  else start();
});
