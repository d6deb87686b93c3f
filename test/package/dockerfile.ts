import { execFile } from "node:child_process";
import { cp, mkdir, readFile, symlink } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { DockerfileParser, type Instruction, ModifiableInstruction } from "dockerfile-ast";

const run = promisify(execFile);

/** What a stage of a Dockerfile comes to, and where the result of its commands stands here. */
export interface Stage {
  readonly name: string;
  readonly base: string;
  /** In place of the image's `/`. */
  readonly root: string;
  workdir: string;
  user: string | undefined;
  /** The ids of the user, where this process may become another one. Otherwise everything runs as the user who runs the tests. */
  ids: { readonly uid?: number; readonly gid?: number };
  readonly env: Record<string, string>;
  entrypoint: readonly string[];
  command: readonly string[];
  healthcheck: readonly string[];
  readonly ran: string[];
}

/**
 * Does what the instructions of the Dockerfile do, without a container: each stage is a folder, in which the same files
 * are put and the same commands run, by root by its users. Two things are this machine's: what the base image brings, and
 * the packages that an install of all of them would bring.
 *
 * @returns the stages; the last is the image
 */
export async function followDockerfile(folder: string): Promise<Stage[]> {
  const instructions = DockerfileParser.parse(await readFile("Dockerfile", "utf8")).getInstructions();
  const stages: Stage[] = [];
  const given: Record<string, string> = {};
  for (const instruction of instructions) {
    if (instruction.getKeyword() === "FROM") stages.push(beginStage(instruction, folder, stages.length, given));
    else if (stages.length === 0) Object.assign(given, valuesOf(wordsOf(instruction))); // ARG
    else await follow(instruction, stages);
  }
  return stages;
}

function beginStage(instruction: Instruction, folder: string, number: number, given: Record<string, string>): Stage {
  const [image = "", , name = String(number)] = wordsOf(instruction);
  const base = image.replaceAll(/\$\{(\w+)\}/gu, (_, variable: string) => given[variable] ?? "");
  const root = join(folder, name);
  return {
    name,
    base,
    root,
    workdir: root,
    user: undefined,
    ids: {},
    env: {},
    entrypoint: [],
    command: [],
    healthcheck: [],
    ran: [],
  };
}

async function follow(instruction: Instruction, stages: readonly Stage[]): Promise<void> {
  const stage = stages.at(-1);
  const keyword = instruction.getKeyword();
  if (stage === undefined) return;
  const words = wordsOf(instruction);
  switch (keyword) {
    case "WORKDIR":
      stage.workdir = join(stage.root, words[0] ?? "");
      await mkdir(stage.workdir, { recursive: true });
      return;
    case "USER":
      stage.user = words[0];
      stage.ids = process.getuid?.() === 0 ? idsOf(words[0] ?? "") : {};
      return;
    case "ENV":
      Object.assign(stage.env, valuesOf(words));
      return;
    case "COPY":
      return copy(flagOf(instruction, "from"), words, stage, stages);
    case "RUN":
      return runIn(stage, shellTextOf(instruction));
    case "ENTRYPOINT":
      stage.entrypoint = JSON.parse(textOf(instruction));
      return;
    case "CMD":
      stage.command = JSON.parse(textOf(instruction));
      return;
    case "HEALTHCHECK":
      stage.healthcheck = JSON.parse(/CMD (\[.*\])$/su.exec(textOf(instruction))?.[1] ?? "[]");
      return;
    case "EXPOSE":
      return;
    default:
      throw new Error(`What does ${keyword} do?`);
  }
}

async function copy(from: string | undefined, words: readonly string[], stage: Stage, stages: readonly Stage[]) {
  const [sources, target = "."] = [words.slice(0, -1), words.at(-1)];
  const other = stages.find(({ name }) => name === from);
  if (from !== undefined && other === undefined) throw new Error(`There is no stage ${from}.`);
  for (const source of sources) {
    const to = join(stage.workdir, target, target.endsWith("/") ? basename(source) : "");
    if (other === undefined) await copyFromContext(source === "." ? "" : source, to);
    else await cp(join(other.root, source), to, { recursive: true, verbatimSymlinks: true });
  }
}

async function copyFromContext(source: string, to: string): Promise<void> {
  for (const path of await contextFiles(source)) await put(path, join(to, path.slice(source.length)));
}

async function put(path: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  await cp(path, to);
}

/** The files that a build is given: those of the repository but for what .dockerignore names. */
async function contextFiles(prefix: string): Promise<string[]> {
  const { stdout } = await run("git", ["ls-files", "--cached", "--others", "--exclude-standard"]);
  const ignored = (await readFile(".dockerignore", "utf8")).split("\n").filter(Boolean).map(ignoring);
  const isIgnored = (path: string) => ignored.some((pattern) => pattern.test(path));
  return stdout
    .split("\n")
    .filter(
      (path) =>
        path !== "" && !isIgnored(path) && (path === prefix || path.startsWith(prefix === "" ? "" : `${prefix}/`)),
    );
}

/** What a line of .dockerignore names, and all within it. Names without a slash stand at the top only. */
export function ignoring(line: string): RegExp {
  if (!/^[\w.*/-]+$/u.test(line) || /^\/|\/$|\*{3}/u.test(line)) throw new Error(`What does ${line} ignore?`);
  const parts = line.split(/(\*\*\/|\*\*|\*)/u).map((part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    return part === "*" ? "[^/]*" : part.replaceAll(".", String.raw`\.`);
  });
  return new RegExp(`^${parts.join("")}(?:/|$)`, "u");
}

async function runIn(stage: Stage, words: string): Promise<void> {
  const { PATH = "", HOME = "" } = process.env;
  // Who is not root may give nothing away; there all files belong to one user.
  const command = process.getuid?.() === 0 ? words : words.replaceAll(/&& chown \S+ \S+/gu, "");
  stage.ran.push(words);
  const options = { cwd: stage.workdir, env: { PATH, HOME, ...stage.env }, maxBuffer: 1e8, ...stage.ids };
  if (!words.startsWith("npm ci ") || words.includes("--omit="))
    return void (await run("sh", ["-c", command], options));
  // They stand in node_modules, from the same lock file. npm says whether it could install them.
  await run("sh", ["-c", `${command} --dry-run`], options);
  await symlink(resolve("node_modules"), join(stage.workdir, "node_modules"));
}

/** Users that Node's image has. */
function idsOf(user: string): Stage["ids"] {
  if (user !== "node") throw new Error(`Who is ${user}?`);
  return { uid: 1_000, gid: 1_000 };
}

function valuesOf(words: readonly string[]): Record<string, string> {
  return Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]));
}

/** Without its flags. */
function wordsOf(instruction: Instruction): string[] {
  return instruction.getArguments().map((argument) => argument.getValue());
}

function flagOf(instruction: Instruction, name: string): string | undefined {
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
  return flags.find((flag) => flag.getName() === name)?.getValue() ?? undefined;
}

/** As the shell is given it: without flags and the ends of continued lines, with all that is escaped or quoted. */
function shellTextOf(instruction: Instruction): string {
  return textOf(instruction)
    .replace(/^(?:--\S+\s+)+/u, "")
    .replaceAll(/\\\n\s*/gu, "");
}

function textOf(instruction: Instruction): string {
  return instruction.getRawArgumentsContent() ?? "";
}
