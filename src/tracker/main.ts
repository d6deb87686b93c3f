// The script of shops' pages (docs/tracking.md). Nothing in it may throw into the page.
import { attempt, on } from "./guard.js";
import { createPage, type Page } from "./page.js";
import { type Attributes, createTracker, type Tracker } from "./tracker.js";

type Command = readonly [name: keyof Tracker, ...values: unknown[]];

/** At first the page's own queue. Later it keeps the calls so far, for scripts of other shows that the page adds. */
interface Queue {
  q?: Command[];
  push?: (command: Command) => void;
  /** The id of the viewer, for the shop's system. */
  viewer?: () => string;
  /** Created by the page's first script. */
  shared?: Page;
  /** Set when the page's first script has begun. */
  isLoaded?: true;
  key?: string | undefined;
  script?: Element;
  /** The page that loaded `script`, because a navigation library may keep the element. */
  page?: string | undefined;
}

/** Of the calls before the script loaded, these run first, even before its attributes: they say whose events follow. */
const first = /^(?:init|debug|consent|identify)\b/u;
/** Calls that count once, or concern one show: only the page's first script executes them. */
const single = /^(?:init|show|addToCart|order)$/u;

/** Scripts that are added later get this many earlier calls. */
const commandsMax = 100;

function begin(window: { vitrine?: Queue }, script: HTMLScriptElement): void {
  // An element with the id `vitrine` has no `push`.
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
  // The endpoint is next to the script, whatever the folder's name is.
  const endpoint = pathname.includes("/tracker/") ? "../collect/v1" : "v1";
  const shared = (queue.shared ??= createPage());
  queue.viewer = shared.id;
  const tracker = createTracker(new URL(endpoint, href).href, attributes, shared);
  const run = (command: Command): void => {
    const work = (): void => {
      const [name, ...values] = command;
      if (!others || !single.test(name)) (tracker[name] as (...given: readonly unknown[]) => unknown)(...values);
    };
    attempt(work, ...(others ? [] : [command].flat())); // only the first script warns
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
  // There is none if the code was not loaded as a separate script.
  const script = (document.currentScript ?? document.createElement("script")) as HTMLScriptElement;
  const start = (): void => begin(window as object, script);
  // A prerendered page has no viewer yet. The event only comes once.
  if ((document as { prerendering?: boolean }).prerendering) on("prerenderingchange", start);
  else start();
});
