import cluster from "node:cluster";
import { setFlagsFromString } from "node:v8";
import type { Command } from "commander";
import { readConfig } from "../../config.js";

export function addServeCommand(program: Command): void {
  program
    .command("serve")
    .description("serve GraphQL and REST until stopped by a signal")
    .addHelpText("after", "\nExample:\n  PORT=8080 npx vitrine serve")
    .action(async () => {
      const config = readConfig();
      collectGarbageEarly();
      // On demand, because other commands and the primary do not need the whole service.
      if (config.webConcurrency > 1 && cluster.isPrimary) {
        const { serveByWorkers } = await import("./workers.js");
        await serveByWorkers(config);
      } else if (config.webConcurrency > 1 && cluster.worker !== undefined) {
        const { serveAsWorker } = await import("./run.js");
        await serveAsWorker(config, cluster.worker);
      } else {
        const { serve } = await import("./run.js");
        await serve(config);
      }
    });
}

/**
 * Has V8 collect garbage when the heap has grown by half, not fourfold, which is hundreds of megabytes after large
 * requests. We measured no cost of the earlier collections. The flag applies to all threads.
 */
function collectGarbageEarly(): void {
  setFlagsFromString("--heap-growing-percent=50");
}
