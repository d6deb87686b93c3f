import { type FileHandle, open } from "node:fs/promises";
import type { RootDatabase } from "../../database/client.js";
import { AppError, Problems } from "../../errors.js";
import { headBytes, refusePacked } from "../../files/encoding/fileKinds.js";
import { currencyOf } from "../../stores/store.currency.js";
import { type EventConstraints, eventConstraints, type ShopperEventInput } from "../events.input.js";
import { readEventLine } from "./events.json.js";
import { sendPartitioned } from "./events.partitions.js";
import { type EventReceipt, recordEvents } from "../record/events.record.js";
import { findLiveStream } from "../../shows/liveStream.js";
import { readLines } from "./ndjson.js";
import { foldTotals } from "../record/fold.js";

export interface EventFileProgress {
  readonly phase: "checking" | "recording";
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly events: number;
}

interface EventFileOptions {
  readonly partitions?: number;
  readonly onProgress?: (progress: EventFileProgress) => void;
}

/** The file up to its size when it was opened. */
interface EventFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly constraints: EventConstraints;
}

/** A rebuild of millions of events takes less. */
const lockWaitMs = 120_000;

/** A compromise: few round trips, but others wait for each batch on the embedded engine. */
const batchEvents = 2_000;

/**
 * Records an NDJSON file of any size in constant memory. All lines are checked before anything is stored. After an
 * error while recording, a second run adds the rest, since event ids count once.
 *
 * @throws {AppError} LIVE_STREAM_NOT_FOUND, or VALIDATION_FAILED: for a scheduled or archived show, or naming each
 * problem by its line
 */
export async function recordEventFile(
  db: RootDatabase,
  storeId: string,
  lsId: string,
  path: string,
  { partitions = 1, onProgress = () => undefined }: EventFileOptions = {},
): Promise<EventReceipt> {
  await recordEvents(db, storeId, lsId, [], { lockWaitMs }); // fails where the show takes no events
  const show = await findLiveStream(db, storeId, lsId);
  const handle = await open(path);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new AppError("BAD_REQUEST", `${path} is not a file that can be read twice.`);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0);
    refusePacked(buffer.subarray(0, bytesRead), "NDJSON");
    const file = {
      handle,
      size: stats.size,
      constraints: { ...eventConstraints(show), currency: await currencyOf(db, storeId, true) },
    };
    await checkEvents(file, onProgress);
    const record = (events: readonly ShopperEventInput[]) => recordEvents(db, storeId, lsId, events, { lockWaitMs });
    const receipt = await recordChecked(file, record, partitions, onProgress);
    await foldTotals(db, storeId, lsId);
    return receipt;
  } finally {
    await handle.close();
  }
}

type OnProgress = (progress: EventFileProgress) => void;

async function checkEvents(file: EventFile, onProgress: OnProgress): Promise<void> {
  const problems = new Problems();
  let events = 0;
  for await (const block of readEvents(file, problems)) {
    events += block.events.length;
    onProgress({ phase: "checking", bytesRead: block.bytesRead, bytesTotal: file.size, events });
  }
  problems.throwIfAny();
}

async function recordChecked(
  file: EventFile,
  record: (events: readonly ShopperEventInput[]) => Promise<EventReceipt>,
  partitions: number,
  onProgress: OnProgress,
): Promise<EventReceipt> {
  let recorded = 0;
  async function send(events: readonly ShopperEventInput[]): Promise<EventReceipt> {
    const receipt = await record(events);
    recorded += events.length;
    return receipt;
  }
  async function* source() {
    const problems = new Problems();
    for await (const { events, bytesRead } of readEvents(file, problems)) {
      if (problems.total > 0) throw new AppError("BAD_REQUEST", "The file was changed while it was read.");
      yield events;
      onProgress({ phase: "recording", bytesRead, bytesTotal: file.size, events: recorded });
    }
  }
  try {
    return await sendPartitioned(source(), send, { partitions, batchEvents });
  } catch (error) {
    throw error instanceof AppError ? stoppedAfter(recorded, error) : error;
  }
}

async function* readEvents({ handle, size, constraints }: EventFile, problems: Problems) {
  for await (const { lines, bytesRead } of readLines(handle, size)) {
    const events: ShopperEventInput[] = [];
    for (const line of lines) {
      const event = readEventLine(line, problems, constraints);
      if (event !== undefined) events.push(event);
    }
    yield { events, bytesRead };
  }
}

function stoppedAfter(recorded: number, error: AppError): AppError {
  // True of the batch, but not of the file.
  const reason = error.message.replace(" Nothing was changed.", "");
  const message = `${reason} ${recorded} events of the file were recorded before; run the command again for the rest.`;
  return new AppError(error.code, message, { cause: error });
}
