import type { RootDatabase } from "../../database/client.js";
import { Prisma } from "../../generated/prisma/client.js";
import { type ExportFilter, exportedProducts, type ExportFormat, exportLines } from "./export.sql.js";

export interface ExportReader {
  readonly format: ExportFormat;
  readonly filter: ExportFilter;
  /** Takes lines and the number of their products. It must not wait for the client. */
  readonly take: (lines: string, products: number) => Promise<void>;
  /** Drops all that was taken, to begin again. */
  readonly restart: () => void;
  readonly signal: AbortSignal;
}

const rowsPerFetch = Prisma.raw("1000");
const timeoutMs = 15 * 60_000;

/**
 * Reads one snapshot from the cursor of one statement, which closes with the transaction.
 *
 * @throws the signal's reason once it is aborted
 */
export async function readSnapshot(db: RootDatabase, { format, filter, take, signal }: ExportReader): Promise<void> {
  await db.$transaction(
    async (transaction) => {
      await transaction.$executeRaw`
        DECLARE "exported" NO SCROLL CURSOR FOR SELECT ${exportLines[format]} AS line ${exportedProducts(filter)}
        ORDER BY p.id`;
      for (;;) {
        signal.throwIfAborted();
        const rows = await transaction.$queryRaw<{ line: string }[]>`FETCH ${rowsPerFetch} FROM "exported"`;
        if (rows.length === 0) return;
        await take(rows.map(({ line }) => line).join(""), rows.length);
      }
    },
    { timeout: timeoutMs },
  );
}
