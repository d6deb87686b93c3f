import { readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { AxeResults } from "axe-core";
import { type Browser, type BrowserContextOptions, chromium, firefox, type Page } from "playwright-core";
import { afterAll, expect, inject, type ProvidedContext } from "vitest";
import type { Config } from "../../../src/config.js";
import { startApp, type TestApp } from "../app.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The browser of a project of tests: one that is installed, which vitest.config.ts names. */
    browser: { readonly name: "chromium" | "firefox"; readonly executablePath: string };
  }
}

export interface TestBrowser {
  /** A page with storage of its own, as a person sees it who comes for the first time. Close it when the test ends. */
  open(url: string, options?: BrowserContextOptions): Promise<TestPage>;
}

/** A page, and what went on in it since it was opened. */
export interface TestPage {
  readonly page: Page;
  /** Errors in the console, uncaught errors, violations of the Content-Security-Policy, requests that failed. */
  readonly faults: readonly string[];
  /** Where requests went, each `host:port` once. */
  readonly hosts: ReadonlySet<string>;
  /** Where TEST_SCREENSHOTS is true, writes test/screenshots/NAME.png, which is for people to look at. */
  screenshot(name: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * What Playwright turns off, which its own flag would say were it not given here; and pages of the address bar, which each
 * window would load: with them, opening a page takes twice the CPU time.
 */
const disabledFeatures = [
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsUpgrades",
  "HttpsFirstBalancedModeAutoEnable",
  "LensOverlay",
  "MediaRouter",
  "PaintHolding",
  "ThirdPartyStoragePartitioning",
  "OptimizationHints",
  "NetworkTimeServiceQuerying",
  "AimEnabled",
  "PreconnectToSearch",
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
];

/** As root, without a display, and without anything that a browser does of its own accord; other hosts are not looked up. */
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  `--disable-features=${disabledFeatures.join(",")}`,
];

const desktop = { viewport: { width: 1280, height: 800 } };
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

type Look = "dark" | "light" | "phone" | "narrow";

/** Screens, and how a page that stays open looks on each: as it is loaded, and as it follows a change. */
export const screens: readonly (readonly [name: string, options: BrowserContextOptions, looks: readonly Look[]])[] = [
  ["desktop", { colorScheme: "dark" }, ["dark", "light"]],
  ["phone", phone, ["phone", "narrow"]],
];

/** Gives an open page one of its screen's looks. */
export async function setLook(page: Page, look: Look): Promise<void> {
  if (look === "phone") return page.setViewportSize(phone.viewport);
  if (look === "narrow") return page.setViewportSize({ width: 320, height: 640 });
  return page.emulateMedia({ colorScheme: look });
}

const takesScreenshots = process.env["TEST_SCREENSHOTS"] === "true";

/** Minified: a page takes a third less time to load it. */
const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");

/** The browsers of this process, by the project's, for the tests of all files. They end with the process. */
const launched = new Map<string, Promise<Browser>>();

/** The browser of the project, with a new profile. */
export async function openBrowser(): Promise<TestBrowser> {
  const given = inject("browser");
  const launching = launched.get(given.name) ?? launch(given);
  launched.set(given.name, launching);
  const browser = await launching;
  return { open: (url, options) => openPage(browser, url, { ...desktop, ...options }) };
}

function launch({ name, executablePath }: ProvidedContext["browser"]): Promise<Browser> {
  if (name === "chromium") return chromium.launch({ executablePath, args: flags, headless: true });
  return firefox.launch({ executablePath, channel: "moz-firefox", headless: true }); // its own protocol, not that of a patched build
}

/** A browser whose pages can be closed together: those that tests left, too. */
async function openOwnPages(): Promise<{ browser: TestBrowser; closePages: () => Promise<void> }> {
  const shared = await openBrowser();
  const opened: TestPage[] = [];
  const openOwn: TestBrowser["open"] = async (...args) => {
    const page = await shared.open(...args);
    opened.push(page);
    return page;
  };
  const closePages = async () => void (await Promise.all(opened.map((page) => page.close())));
  return { browser: { open: openOwn }, closePages };
}

/** A browser, and the service until the last test of the file. */
export async function openAppInBrowser(
  overrides: Partial<Config> = {},
): Promise<{ readonly app: TestApp; readonly browser: TestBrowser }> {
  const [app, { browser, closePages }] = await Promise.all([startApp(overrides), openOwnPages()]);
  afterAll(async () => {
    await closePages();
    await app.close();
  });
  return { app, browser };
}

async function openPage(browser: Browser, url: string, options: BrowserContextOptions): Promise<TestPage> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  const watched = watch(page);
  await page.exposeBinding("testViolation", (_, violation: string) => void watched.faults.push(violation));
  await page.addInitScript(
    `addEventListener("securitypolicyviolation", (event) => testViolation(\`\${event.effectiveDirective} \${event.blockedURI}\`))`,
  );
  await page.goto(url);
  return {
    page,
    ...watched,
    async screenshot(name) {
      if (!takesScreenshots) return;
      await mkdir("test/screenshots", { recursive: true });
      await page.screenshot({ path: `test/screenshots/${name}.png` });
    },
    close: () => context.close(),
  };
}

function watch(page: Page): { faults: string[]; hosts: Set<string> } {
  const faults: string[] = [];
  const hosts = new Set<string>();
  const visit = (url: string) => {
    if (/^(?:https?|wss?):/u.test(url)) hosts.add(new URL(url).host); // data: and blob: leave the page nowhere
  };
  page.context().on("request", (request) => visit(request.url()));
  page.on("websocket", (socket) => visit(socket.url()));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`console: ${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => faults.push(`uncaught: ${error.message}`));
  page.context().on("requestfailed", (request) => {
    const reason = request.failure()?.errorText ?? "";
    // What the page itself broke off, as it does with a subscription, did not fail.
    if (reason !== "net::ERR_ABORTED") faults.push(`request: ${reason} (${request.url()})`);
  });
  return { faults, hosts };
}

/** Fails the test where anything went wrong in the page, or another host than the page's own and `others` was called. */
export function expectClean(
  { page, faults, hosts }: TestPage,
  expected: readonly RegExp[] = [],
  others: readonly string[] = [],
): void {
  const unexpected = faults.filter((fault) => !expected.some((pattern) => pattern.test(fault)));
  expect(unexpected, "faults of the page").toEqual([]);
  expect([...hosts].toSorted(), "hosts that were called").toEqual([new URL(page.url()).host, ...others].toSorted());
}

/**
 * Fails the test where axe-core finds something of serious or critical impact in the page as it is now.
 *
 * @param exceptions rules that are not ours to keep, by their id, with the reason
 */
export async function expectAccessible({ page }: TestPage, exceptions: Readonly<Record<string, string>> = {}) {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axeSource);
  // Of rules that hold, one element each is described: describing all takes a third of the time.
  const run = `axe.run({ resultTypes: ["violations"] })`;
  const { violations, passes } = (await page.evaluate(run)) as AxeResults;
  const grave = violations.filter(
    ({ id, impact }) => (impact === "serious" || impact === "critical") && !(id in exceptions),
  );
  const found = grave.map(({ id, nodes }) => ({ id, at: nodes.map(({ html }) => html.slice(0, 200)) }));
  expect(found, "what axe-core finds").toEqual([]);
  expect(passes.length, "axe-core looked at the page").toBeGreaterThan(0);
}

/** As expectAccessible, for a page that has one look after the other: axe-core sees colors, but not how wide a screen is. */
export async function expectAccessibleAs(look: Look, opened: TestPage): Promise<void> {
  if (look !== "narrow") await expectAccessible(opened);
}
