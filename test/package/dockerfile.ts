import { execFile } from "node:child_process";
import { cp, mkdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
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
  readonly env: Record<string, string>;
  entrypoint: readonly string[];
  command: readonly string[];
  healthcheck: readonly string[];
  readonly ran: string[];
}

/**
 * Does what the instructions of the Dockerfile do, without a container: each stage is a folder, in which the same files
 * are put and the same commands run. Only what the base image brings is this machine's.
 *
 * @returns the stages; the last is the image
 */
export async function followDockerfile(folder: string): Promise<Stage[]> {
  const instructions = DockerfileParser.parse(await readFile("Dockerfile", "utf8")).getInstructions();
  const stages: Stage[] = [];
  for (const instruction of instructions) {
    if (instruction.getKeyword() === "FROM") stages.push(beginStage(instruction, folder, stages.length));
    else await follow(instruction, stages);
  }
  return stages;
}

function beginStage(instruction: Instruction, folder: string, number: number): Stage {
  const [base = "", , name = String(number)] = wordsOf(instruction);
  const root = join(folder, name);
  return {
    name,
    base,
    root,
    workdir: root,
    user: undefined,
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
  if (stage === undefined) return; // ARG before the first FROM
  const words = wordsOf(instruction);
  switch (keyword) {
    case "WORKDIR":
      stage.workdir = join(stage.root, words[0] ?? "");
      await mkdir(stage.workdir, { recursive: true });
      return;
    case "USER":
      stage.user = words[0];
      return;
    case "ENV":
      for (const word of words) stage.env[word.slice(0, word.indexOf("="))] = word.slice(word.indexOf("=") + 1);
      return;
    case "COPY":
      return copy(flagOf(instruction, "from"), words, stage, stages);
    case "RUN":
      return runIn(stage, words.join(" "));
    case "ENTRYPOINT":
      stage.entrypoint = JSON.parse(textOf(instruction));
      return;
    case "CMD":
      stage.command = JSON.parse(textOf(instruction));
      return;
    case "HEALTHCHECK":
      stage.healthcheck = JSON.parse(/CMD (\[.*\])$/su.exec(textOf(instruction))?.[1] ?? "[]");
      return;
    case "VOLUME":
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
  const ignored = (await readFile(".dockerignore", "utf8")).split("\n").filter(Boolean);
  const isIgnored = (path: string) => ignored.some((name) => path === name || path.startsWith(`${name}/`));
  return stdout
    .split("\n")
    .filter(
      (path) =>
        path !== "" && !isIgnored(path) && (path === prefix || path.startsWith(prefix === "" ? "" : `${prefix}/`)),
    );
}

async function runIn(stage: Stage, command: string): Promise<void> {
  const { PATH = "", HOME = "" } = process.env;
  stage.ran.push(command);
  await run("sh", ["-c", command], { cwd: stage.workdir, env: { PATH, HOME, ...stage.env }, maxBuffer: 1e8 });
}

/** Without its flags. */
function wordsOf(instruction: Instruction): string[] {
  return instruction.getArguments().map((argument) => argument.getValue());
}

function flagOf(instruction: Instruction, name: string): string | undefined {
  const flags = instruction instanceof ModifiableInstruction ? instruction.getFlags() : [];
  return flags.find((flag) => flag.getName() === name)?.getValue() ?? undefined;
}

function textOf(instruction: Instruction): string {
  return instruction.getRawArgumentsContent() ?? "";
}
