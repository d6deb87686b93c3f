import { type Parts, partRows } from "../parts.js";
import type { Row } from "../table.js";
import { crashRows, frozenRows, moveRows } from "./faults.js";
import { coordinatorRows, promoteRows } from "./losses.js";
import { recordRows } from "./record.js";

const parts: Parts = {
  record: recordRows,
  frozen: frozenRows,
  crash: crashRows,
  move: moveRows,
  coordinator: coordinatorRows,
  promote: promoteRows,
};
/** What a cluster of Citus costs and withstands; it must be there, at BENCH_CITUS_URL. */
export async function benchCitus(): Promise<Row[]> {
  return partRows("BENCH_CITUS", parts);
}
