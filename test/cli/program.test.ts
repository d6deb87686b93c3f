import type { Command } from "commander";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.js";
import { exitStatus } from "../../src/cli/terminal/failure.js";
import { cli, openCommands } from "../support/process/cli.js";
import { allCommands, callOf } from "../support/process/commands.js";

const { env, run, refusal, fileOf } = await openCommands();
const file = await fileOf("id,sku\n", "products.csv");

/** Where a command that opens the folder fails in another way than one that is refused before. */
const nowhere = { DATA_DIR: "/dev/null" };

const commands = allCommands();
const groups = createProgram().commands.filter((command) => command.commands.length > 0);
const withStore = commands.filter(
  ([name, { registeredArguments }]) => registeredArguments[0]?.name() === "store" && name !== "store create",
);

/** With what is added to it. */
function helpOf(command: Command): string {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text) });
  command.outputHelp();
  return help;
}

/** What the command line is refused with, before any folder is opened. */
async function misuse(args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await cli(args, nowhere);
  expect([args, status, stdout]).toEqual([args, 2, ""]);
  return stderr;
}

test.each(commands)("%s is described, takes --json, and its help has an example", (name, command) => {
  expect(command.description()).toMatch(/\w/u);
  if (name !== "serve") expect(command.options.map(({ long }) => long)).toContain("--json");
  const hasArguments = command.registeredArguments.length > 0;
  if (hasArguments) expect(helpOf(command)).toMatch(/\nExamples?:\n {2}npx vitrine /u);
});

test("the help has examples of each group, every exit status, and goes to standard output", async () => {
  const { status, stdout, stderr } = await cli(["--help"], nowhere);
  expect([status, stderr]).toEqual([0, ""]);
  for (const each of Object.values(exitStatus)) {
    expect(stdout).toMatch(new RegExp(`Exit status:[^]*\\b${each} [a-z]`, "u"));
  }
  for (const group of groups.map((each) => each.name())) {
    const help = await cli([group, "--help"], nowhere);
    expect([group, help.status, help.stderr]).toEqual([group, 0, ""]);
    expect(help.stdout).toMatch(/^Usage: vitrine[^]*\nExamples?:\n {2}npx vitrine /u);
    expect(help.stdout).toContain(`npx vitrine ${group} `);
  }
});

test.each(withStore)("%s is refused for a store that does not exist", async (name, command) => {
  const values: Readonly<Record<string, string>> = { store: "nobody", file };
  const reason = expect.stringMatching(/^(?:There is no store nobody|Store nobody has no [a-z ]+ none)\.$/u);
  expect(await refusal(...callOf(name, command, (argument) => values[argument] ?? "none"))).toEqual([1, reason]);
});

describe("what is blank is refused", () => {
  /** Paths, which are looked for, and what shops name as they like. */
  const others = new Set(["file", "viewer"]);

  test.each(commands.flatMap(([name, command]) => command.registeredArguments.map((each) => [name, each.name()])))(
    "%s, argument %s",
    async (name = "", blank = "") => {
      const [, command = expect.fail()] = commands.find(([each]) => each === name) ?? [];
      const call = callOf(name, command, (argument) => (argument === blank ? " " : "a"));
      if (others.has(blank)) return;
      const reason = `vitrine: command-argument value ' ' is invalid for argument '${blank}'. It must not be blank. (see --help)\n`;
      expect(await misuse(call)).toBe(reason);
    },
  );

  /** What is looked at with the store, or with the file. */
  const later = new Set([
    "--currency",
    "--delimiter",
    "--encoding",
    "--fill-down",
    "--mapping",
    "--one-per",
    "--origin",
    "--rejects",
    "--save-mapping",
    "--secret",
    "--time-zone",
    "--url-template",
  ]);

  test.each(commands)("%s, in its options", async (name, command) => {
    for (const { long, required } of command.options) {
      if (!required || later.has(long ?? "")) continue;
      const reason = new RegExp(
        `^vitrine: option '(?:-\\w, )?${long}\\b[^']*' argument '' is invalid\\. [^\\n]+\\n$`,
        "u",
      );
      expect(await misuse([...callOf(name, command, () => "a"), long ?? "", ""])).toMatch(reason);
    }
  });
});

test.each([
  [["bogus"], "unknown command 'bogus'"],
  [["store", "create"], "missing required argument 'store'"],
  [["store", "create", "acme", "extra"], "too many arguments for 'create'. Expected 1 argument but got 2."],
  [["store", "create", "acme", "--jsn"], "unknown option '--jsn' (Did you mean --json?)"],
  [["site", "add", "acme", "de"], "required option '--type <type>' not specified"],
  [
    ["token", "rotate", "acme", "id", "--grace", "5y"],
    "option '--grace <duration>' argument '5y' is invalid. Give a duration like 90s, 15m, 24h or 7d.",
  ],
  [
    ["token", "issue", "acme", "--expires", "2020-01-01T00:00:00Z"],
    "option '--expires <time>' argument '2020-01-01T00:00:00Z' is invalid. The time is in the past.",
  ],
])("%j is refused in one line, before any folder is opened", async (args, reason) => {
  expect(await misuse(args)).toBe(`vitrine: ${reason} (see --help)\n`);
});

test.each([
  [
    "an invalid environment, with every problem",
    { PORT: "x", AUTO_MIGRATE: "maybe" },
    2,
    "The environment is not valid: PORT must be a whole number from 0 to 65535; AUTO_MIGRATE must be true or false.",
  ],
  [
    "a database that cannot be reached",
    { DATABASE_URL: "postgresql://nobody@127.0.0.1:1/none" },
    4,
    "Can't reach database server at 127.0.0.1:1",
  ],
  [
    "a data folder that cannot be created",
    { DATA_DIR: "/dev/null/data" },
    1,
    "The data folder /dev/null/data cannot be used: it, or what it is in, is a file (ENOTDIR).",
  ],
])("%s is refused with the reason in one line", async (_, variables, status, reason) => {
  const stderr = `vitrine: ${reason}\n`;
  expect(await cli(["store", "list"], { ...env, ...variables })).toEqual({ status, stdout: "", stderr });
});

test("a misspelled variable is warned of, and the command goes on", async () => {
  const { status, stderr } = await cli(["store", "list"], { ...env, DATABSE_URL: "postgres://nowhere" });
  expect([status, stderr]).toEqual([0, "vitrine: Unknown variable DATABSE_URL. Did you mean DATABASE_URL?\n"]);
});

test("migrating an up-to-date database does nothing", async () => {
  expect((await run("migrate")).stdout).toBe("Nothing to apply.\n");
  expect(JSON.parse((await run("migrate", "--json")).stdout)).toEqual({ applied: [] });
});

test.each(["EPIPE", "ENOSPC"])(
  "what cannot be written fails the command, but where the reader has left: %s",
  async (code) => {
    const outputError = Object.assign(new Error(`${code}: write`), { code });
    const { status, stderr } = await cli(["store", "list"], env, { outputError });
    expect([status, stderr]).toEqual(code === "EPIPE" ? [0, ""] : [1, "vitrine: ENOSPC: write\n"]);
  },
);
