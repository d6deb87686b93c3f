import { realpath } from "node:fs/promises";
import { type LineSet, type RejectedFile, writeRejects } from "../../catalog/import/rejects.js";
import { AppError } from "../../errors.js";
import { beginOutputFile } from "../terminal/outputFile.js";

interface Rejects {
  write(accepted: LineSet | undefined): Promise<void>;
  /** Removes what was not finished. */
  close(): void;
}

/**
 * Prepares the file of rejected rows.
 *
 * @throws {AppError} BAD_REQUEST where it is the file that is imported, or cannot be written
 */
export async function openRejects(rejected: RejectedFile, target: string): Promise<Rejects> {
  const existing = await realpath(target).catch(() => undefined);
  if (existing === (await realpath(rejected.file))) {
    throw new AppError(
      "BAD_REQUEST",
      `${target} is the file that is imported: name another one for the rejected rows.`,
    );
  }
  const output = await beginOutputFile(target);
  return {
    async write(accepted) {
      await writeRejects(rejected, output.draft, accepted);
      await output.finish();
    },
    close: () => output.close(),
  };
}
