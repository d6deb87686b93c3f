import { spawn } from "node:child_process";
import { expect, onTestFinished } from "vitest";
import { withoutProgress } from "./process.js";

/** A fenced block of a page of the documentation. */
interface Block {
  /** The first line of its content stands on this one. */
  readonly line: number;
  /** What follows the fence: `sh`, `json variables`. */
  readonly info: string;
  readonly text: string;
}

/** What a reader would run, and what the page says comes of it. */
export interface Example {
  readonly block: Block;
  /** The variables of a GraphQL operation. */
  readonly variables?: unknown;
  /** Undefined where the page shows none. */
  readonly output?: Block;
}

const runnable = new Set(["sh", "graphql", "js"]);
/** For pages of shops; test/browser/tracker/ runs them. */
const forPages = /^(?:html|http|js page)\b/u;

/** @throws where a block is of no kind that can be run or compared, so that no example escapes its test */
export function examplesOf(markdown: string): Example[] {
  const examples: { block: Block; variables?: unknown; output?: Block }[] = [];
  for (const block of blocksOf(markdown)) {
    const last = examples.at(-1);
    if (forPages.test(block.info)) continue;
    if (runnable.has(block.info)) examples.push({ block });
    else if (last === undefined || last.output !== undefined) throw new Error(`Line ${block.line}: output of nothing.`);
    else if (block.info === "json variables") last.variables = JSON.parse(block.text);
    else if (block.info === "json" || block.info === "text") last.output = block;
    else throw new Error(`Line ${block.line}: a block of the kind "${block.info}" is not tested.`);
  }
  return examples;
}

/** The only block of a kind that is not run but used, such as the configuration of a proxy. */
export function configurationIn(markdown: string, kind: string): string {
  const [block, ...others] = blocksOf(markdown).filter(({ info }) => info === kind);
  if (block === undefined || others.length > 0) throw new Error(`There must be one block of the kind ${kind}.`);
  return block.text;
}

function blocksOf(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(.*)\n([\s\S]*?)^```$/gmu)].map(({ 1: info = "", 2: text = "", index }) => ({
    line: markdown.slice(0, index).split("\n").length + 1,
    info: info.trim(),
    text,
  }));
}

/** Runs a block as one script of bash, and gives what it prints on either output, without progress. */
export async function runShell(script: string, env: Readonly<Record<string, string>>, cwd: string): Promise<string> {
  const child = spawn("bash", ["-c", `set -euo pipefail\n${script}`], { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (printed += text));
  const status = await new Promise((resolve) => child.once("close", resolve));
  if (status !== 0) throw new Error(`The script ended with ${String(status)}: ${printed}`);
  return withoutProgress(printed);
}

const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z$/u;

/** Whether a value is what the page shows: `…` stands for anything in a text, a time for any time. */
function isAsShown(shown: unknown, value: unknown): boolean {
  if (typeof shown === "string" && typeof value === "string") {
    return (moment.test(shown) && moment.test(value)) || matches(shown, value);
  }
  if (typeof shown !== "object" || typeof value !== "object" || shown === null || value === null)
    return shown === value;
  const [theirs, ours] = [Object.entries(shown), new Map(Object.entries(value))];
  return theirs.length === ours.size && theirs.every(([key, part]) => ours.has(key) && isAsShown(part, ours.get(key)));
}

/** Whether the parts between the `…` stand in the text one after the other, the first at its start, the last at its end. */
function matches(shown: string, text: string): boolean {
  const [first = "", ...rest] = shown.split("…");
  const last = rest.pop();
  if (last === undefined) return shown === text;
  let at = text.startsWith(first) ? first.length : -1;
  for (const part of rest) {
    const found = at === -1 ? -1 : text.indexOf(part, at);
    at = found === -1 ? -1 : found + part.length;
  }
  return at !== -1 && text.length - last.length >= at && text.endsWith(last);
}

/** What an example printed must be what the page shows, where it shows something. @param page for a message */
export function expectAsShown({ block, output }: Example, printed: string, page: string): void {
  if (output === undefined) return;
  const isJson = output.info === "json";
  const [shown, value] = isJson ? [JSON.parse(output.text), JSON.parse(printed)] : [output.text.trim(), printed.trim()];
  expect(isAsShown(shown, value) ? shown : value, `${page}, line ${block.line}`).toEqual(shown);
}
