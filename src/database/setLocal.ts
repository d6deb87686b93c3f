import { Prisma } from "../generated/prisma/client.js";
import type { Database } from "./client.js";

/**
 * Settings that hold until a transaction ends, from its next statement on. Citus passes them on to the nodes that do the work,
 * which it does not do with those made by set_config.
 */
export async function setLocal(
  transaction: Database,
  settings: Readonly<
    Record<"lock_timeout" | "statement_timeout" | "idle_in_transaction_session_timeout" | "enable_nestloop", string>
  >,
): Promise<void> {
  const all = { "citus.propagate_set_commands": "local", ...settings }; // without Citus, the first is nobody's
  for (const [name, value] of Object.entries(all)) {
    await transaction.$executeRaw(Prisma.raw(`SET LOCAL ${name} = '${value}'`));
  }
}
