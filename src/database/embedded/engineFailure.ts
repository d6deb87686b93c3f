import { unusable } from "./folder.js";
import { freeBytes } from "../../lib/disk.js";

/** The engine cannot use its files: they are damaged, incomplete, or of another version. */
export class DamagedDatabaseError extends Error {
  override readonly name = "DamagedDatabaseError";
  readonly problem: string;
  readonly advice = "Restore a backup with npx vitrine restore FILE, or move the folder away to start anew.";

  /** @param words PostgreSQL's message */
  constructor(
    folder: string,
    readonly words: string,
    options?: ErrorOptions,
  ) {
    const problem = `The embedded database in ${folder} cannot be used: its files are damaged, or of another version. (${words})`;
    super(problem, options);
    this.problem = problem;
    this.message = `${problem} ${this.advice}`;
  }
}

/** The folder's path in the engine's own file system. */
const engineFolder = "/pglite/data/";
/** SQL states of missing resources and of an operator's intervention (PostgreSQL manual, appendix A): the files may be intact. */
const ofMachine = /^5[37]/u;
const systemCodes: readonly (readonly [words: RegExp, code: string])[] = [
  [/Permission denied$/u, "EACCES"],
  [/Operation not permitted$/u, "EPERM"],
  [/Read-only file system$/u, "EROFS"],
];

/** Why the engine ended, by the error of its thread. PostgreSQL's message ends with an SQL state. */
export function failureOf(folder: string, error: Error): Error {
  const [, said, state] = /^(.*) \(([\dA-Z]{5})\)$/su.exec(error.message) ?? [];
  if (said === undefined || state === undefined || ofMachine.test(state)) {
    return new Error(`The embedded database stopped: ${error.message}`, { cause: error });
  }
  const words = said.replaceAll(engineFolder, "");
  const [, code] = systemCodes.find(([ending]) => ending.test(words)) ?? [];
  return code === undefined ? new DamagedDatabaseError(folder, words, { cause: error }) : unusable(folder, code, error);
}

/** The size of a file of the engine's log. If it cannot create the next one, the engine ends. */
const freeBytesMin = 16 * 1024 * 1024;

/** @param folder of the engine's files, or one on the same disk */
export async function isDiskFull(folder: string): Promise<boolean> {
  return (await freeBytes(folder)) < freeBytesMin;
}
