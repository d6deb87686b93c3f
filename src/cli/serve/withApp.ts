import type { App } from "../../app.js";
import type { Config } from "../../config.js";
import { listen, type RunningServer } from "../../http/server/server.js";

interface Served {
  readonly app: App;
  readonly url: string;
  /** Starts to answer; earlier requests have waited. */
  readonly open: () => void;
}

/**
 * Serves an app while work lasts. Listens before the app is created, so that a port in use is found first, and closes both
 * gracefully at the end.
 *
 * @param create makes the app
 */
export async function withApp(
  config: Config,
  create: () => Promise<App>,
  work: (served: Served) => Promise<void>,
): Promise<void> {
  let open: (app: App) => void = () => undefined;
  const opened = new Promise<App>((resolve) => {
    open = resolve;
  });
  const server = await listen((request, response) => void opened.then((app) => app.handler(request, response)), config);
  let app: App | undefined;
  try {
    const created = (app = await create());
    await work({ app, url: server.url, open: () => open(created) });
  } finally {
    await endService(server, app, config);
  }
}

/** Shuts down gracefully: running requests, then the app, have SHUTDOWN_GRACE_MS together. Without an app, it stops immediately. */
async function endService(server: RunningServer, app: App | undefined, { shutdownGraceMs }: Config): Promise<void> {
  if (app === undefined) return server.stop(0);
  const endsAt = performance.now() + shutdownGraceMs;
  const stopped = server.stop(shutdownGraceMs);
  await app.feed.close(); // open streams would use up the grace period
  await stopped;
  await app.close(Math.max(0, endsAt - performance.now()));
}
