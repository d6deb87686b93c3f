import type { PoolConfig } from "pg";
import { readNodeStates } from "../database/citus/nodeStates.js";
import { mayBeNodeOutage, unreachableNodeOf } from "../database/errors.js";
import { AppError } from "../errors.js";

/**
 * Replaces an error that unreachable nodes of Citus may have caused by one that names them: that of a node that hangs
 * is a mere timeout. Takes 4 seconds at most.
 *
 * @returns the error to report
 */
export async function withUnreachableNodes(failure: unknown, connection: PoolConfig): Promise<unknown> {
  if (!mayBeNodeOutage(failure) || unreachableNodeOf(failure) !== undefined) return failure;
  const states = await readNodeStates(connection).catch(() => undefined);
  const lost = (states ?? []).filter(({ found }) => found === undefined).map(({ node }) => node);
  if (lost.length === 0) return failure;
  const message =
    lost.length === 1
      ? `The Citus node ${lost[0]} does not answer. The command may need it.`
      : `The Citus nodes ${lost.join(", ")} do not answer. The command may need them.`;
  return new AppError("UNAVAILABLE", message, { cause: failure });
}
