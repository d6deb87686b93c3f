import type { Command } from "commander";

/** `vitrine serve` */
export function addServeCommand(program: Command): void {
  program
    .command("serve")
    .description("serve GraphQL and REST until told to stop")
    .addHelpText("after", "\nExample:\n  PORT=8080 npx vitrine serve")
    .action(async () => {
      const { serve } = await import("./serve.run.js"); // the whole service, which other commands need not load
      await serve();
    });
}
