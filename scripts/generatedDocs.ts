import type { Command } from "commander";
import { getNamedType, type GraphQLField, isObjectType } from "graphql";
import * as z from "zod";
import { createProgram } from "../src/cli/program.js";
import { sections } from "../src/config.js";
import { type ErrorCode, errorCodes, placeCodes } from "../src/errors.js";
import { schema } from "../src/api/graphql/schema.js";
import { type KpiName, kpiNames, kpis } from "../src/figures/show/kpis.js";
import { columnsOf } from "../src/figures/store/showColumns.js";
import { problemTypes } from "../src/api/rest/problemDetails.js";
import { withLayouts } from "./layoutDocs.js";
import { table } from "./markdownTable.js";

const helpCharactersMax = 110;

/** Makes each generated page of the documentation anew, from the page as it is. */
export const generatedPages: Readonly<Record<string, (page: string) => string>> = {
  "docs/formats.md": withLayouts,
  "docs/configuration.md": configuration,
  "docs/commands.md": commands,
  "docs/errors.md": errors,
  "docs/kpis.md": kpiPage,
};

const variableColumns = ["Variable", "Default", "Values", "Description"];

function configuration(): string {
  const parts = Object.entries(sections).map(
    ([title, settings]) => `## ${title}\n\n${table(variableColumns, Object.values(settings).map(variableRow))}`,
  );
  return `# Configuration

\`npm run docs\` writes this page from \`src/config.ts\`.

Vitrine reads these variables of the environment when it starts. An empty one counts as not set. An invalid one ends the start with status 2,
and the message names all that are invalid; a misspelled name is warned of.

${parts.join("\n\n")}
`;
}

function variableRow(variable: z.ZodType): string[] {
  const { title = "", description = "" } = variable.meta() ?? {};
  const { enum: choices = [], ...text } = z.toJSONSchema(variable, { io: "input", unrepresentable: "any" });
  const { minimum, maximum, ...value } = z.toJSONSchema(variable, { unrepresentable: "any" });
  const given = text.default ?? value.default ?? "";
  const byDefault = typeof given === "string" ? given : JSON.stringify(given);
  const values =
    minimum === undefined ? choices.map((choice) => `\`${String(choice)}\``) : [`${minimum} to ${maximum}`];
  return [`\`${title}\``, byDefault === "" ? "" : `\`${byDefault}\``, values.join(", "), description];
}

function errors(): string {
  const codes = Object.keys(errorCodes) as ErrorCode[];
  const byStatus = codes.toSorted((a, b) => problemTypes[a].status - problemTypes[b].status);
  const rows = byStatus.map((code) => [`\`${code}\``, String(problemTypes[code].status), errorCodes[code]]);
  const placeRows = Object.entries(placeCodes).map(([code, description]) => [`\`${code}\``, description]);
  return `# Error codes

\`npm run docs\` writes this page from \`src/errors.ts\`. [Access](access.md#errors) describes the form of errors.

${table(["Code", "Status", "Description"], rows)}

Each of \`errors\` has one of these codes or one of the following (enum \`ErrorCode\`):

${table(["Code", "Description"], placeRows)}
`;
}

function kpiPage(): string {
  const valueTypes = new Set(fieldsOf("Kpis").map(({ type }) => getNamedType(type).name));
  const parts = [...valueTypes].filter((name) => fieldsOf(name).length > 0);
  return `# KPIs

\`npm run docs\` writes this page from the schema. [Analytics](analytics.md#read-figures) has an example, and
[figures](figures.md#kpis) the rules.

${table(["KPI", "Type", "Definition"], fieldsOf("Kpis").map(fieldRow))}

## Columns in exports

Later versions add columns at the end.

${table(["KPI", "Columns"], kpiNames.map(columnsRow))}

${parts.map((name) => `## ${name}\n\n${schema.getType(name)?.description}\n\n${table(["Field", "Type", "Value"], fieldsOf(name).map(fieldRow))}`).join("\n\n")}
`;
}

function fieldsOf(name: string): readonly GraphQLField<unknown, unknown>[] {
  const type = schema.getType(name);
  return isObjectType(type) ? Object.values(type.getFields()) : [];
}

function fieldRow({ name, type, description }: GraphQLField<unknown, unknown>): string[] {
  return [`\`${name}\``, String(type).replaceAll(/[!]/gu, ""), description ?? ""];
}

function columnsRow(name: KpiName): string[] {
  const columns = columnsOf(name);
  const { columns: parts } = kpis[name];
  const prefix = columns[0]?.slice(0, -(parts[0]?.length ?? 0));
  if (columns.length < 2) return [`\`${name}\``, columns.length === 0 ? "none" : `\`${columns[0]}\``];
  return [`\`${name}\``, `\`${prefix}…\` with ${parts.map((part) => `\`${part}\``).join(", ")}`];
}

function commands(): string {
  const program = createProgram();
  return `# Commands

\`npm run docs\` writes this page from the help of each command.

- Each command takes \`--help\`. With \`--json\`, it prints one JSON object on standard output and nothing else there.
- Long commands show their progress on standard error: on a terminal in one line, elsewhere in a line every 5 seconds.
- While a server holds the embedded database, commands go through that server.
- Commands that delete ask on a terminal. Elsewhere they need \`--yes\`, and end with status 2 without it.
- The file \`-\` is standard input, which is copied to a temporary file.
- Control characters in a text are printed as \`\\u001b\`; with \`--json\`, and in exports, texts are unchanged.
- With status 1, standard error gives the reason in one line, then each problem of a file by line and column. With status 3 it lists the rows
  that failed.

${[section(program), ...program.commands.flatMap(sectionsOf)].join("\n\n")}
`;
}

/** A group has a section, with its examples, before those of its commands. */
function sectionsOf(group: Command): string[] {
  return [section(group), ...group.commands.map((command) => section(command, `${group.name()} `))];
}

/** Without the options that all commands have. */
function section(command: Command, above = ""): string {
  let help = "";
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => helpCharactersMax });
  command.configureHelp({ visibleOptions: ({ options }) => options.filter(({ long }) => long !== "--json") });
  command.outputHelp();
  return `${above === "" ? "##" : "###"} ${above}${command.name()}\n\n\`\`\`text\n${help.trim()}\n\`\`\``;
}
