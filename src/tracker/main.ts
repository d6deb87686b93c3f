// The script of shops' pages (docs/tracking.md). Nothing in it may throw into the page.
import { attempt, on } from "./guard.js";
import { createPage, type Page } from "./page.js";
import { type Attributes, createTracker, type Tracker } from "./tracker.js";

type Command = readonly [name: keyof Tracker, ...values: unknown[]];

/** The page's own queue at first; then the calls so far, for scripts of other shows that the page adds. */
interface Queue {
  q?: Command[];
  push?: (command: Command) => void;
  /** The id of the viewer, for the shop's system. */
  viewer?: () => string;
  /** Made by the page's first script. */
  shared?: Page;
  /** The page's first script has begun. */
  isLoaded?: true;
  key?: string | undefined;
  script?: Element;
  /** Where it was loaded: a library for navigation may keep the element. */
  page?: string | undefined;
}

/** Whose events follow, and of which show: first among the calls made before the script loaded, and before attributes count. */
const first = /^(?:init|debug|consent|identify)\b/u;
/** What counts once, or concerns one show: that of the page's first script. */
const single = /^(?:init|show|addToCart|order)$/u;

/** How many calls scripts that are added later get. */
const commandsMax = 100;

function begin(window: { vitrine?: Queue }, script: HTMLScriptElement): void {
  // An element with this id has no such method.
  const queue = (window.vitrine = window.vitrine?.push ? window.vitrine : {});
  const { href, pathname, searchParams } = new URL(script.src || "/", location.href);
  const attributes: Attributes = Object.assign(Object.fromEntries(searchParams), script.dataset);
  const { key } = attributes;
  const page = location.href.split("#")[0];
  const others = queue.isLoaded && queue.push;
  const isElsewhere = !queue.script?.isConnected || queue.page !== page;
  if (!others || (queue.key === key && isElsewhere)) {
    Object.assign(queue, { key, script, page });
    if (others) return others(["show", attributes.show, attributes.channel]);
  }
  // Next to the script, whatever its folder is called.
  const endpoint = pathname.includes("/tracker/") ? "../collect/v1" : "v1";
  const shared = (queue.shared ??= createPage());
  queue.viewer = shared.id;
  const tracker = createTracker(new URL(endpoint, href).href, attributes, shared);
  const run = (command: Command): void => {
    const work = (): void => {
      const [name, ...values] = command;
      if (!others || !single.test(name)) (tracker[name] as (...given: readonly unknown[]) => unknown)(...values);
    };
    attempt(work, ...(others ? [] : [command].flat())); // the first script says it
  };
  const commands = (queue.q ??= []);
  const isFirst = (command: Command) => attempt(() => first.test(String(command)));
  commands.filter(isFirst).forEach(run);
  attempt(() => tracker.init());
  commands.filter((command) => !isFirst(command)).forEach(run);
  queue.isLoaded = true;
  queue.push = (command) => {
    if (others) others(command);
    else if (commands.length < commandsMax) commands.push(command);
    run(command);
  };
}

attempt(() => {
  // None where it was loaded as something else than a script of its own.
  const script = (document.currentScript ?? document.createElement("script")) as HTMLScriptElement;
  const start = (): void => begin(window as object, script);
  // A prerendered page has no viewer yet. The event comes once.
  if ((document as { prerendering?: boolean }).prerendering) on("prerenderingchange", start);
  else start();
});
