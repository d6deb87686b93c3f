import type { Command } from "commander";
import { expect, test } from "vitest";
import { allCommands } from "../support/process/commands.js";

/** With what is added to it. */
function helpOf(command: Command): string {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

const commands = allCommands();

test.each(commands.filter(([, { registeredArguments }]) => registeredArguments.length > 0))(
  "the help of %s, which takes arguments, has an example",
  (_, command) => {
    expect(helpOf(command)).toMatch(/\nExamples?:\n {2}npx vitrine /u);
  },
);

test.each(commands.filter(([name]) => name !== "vitrine serve"))("%s takes --json", (_, command) => {
  expect(command.options.map(({ long }) => long)).toContain("--json");
});
