import { ticksPerSecond } from "../load.js";
import { query } from "../server.js";

/** A node of the cluster at BENCH_CITUS_URL, or its coordinator. */
export interface Node {
  readonly name: string;
  readonly groupId: number;
  readonly url: string;
}

const coordinatorGroup = 0;

/** The coordinator of a database on which `vitrine migrate` and `vitrine distribute` have run; as a superuser. */
export function clusterUrl(): string {
  const url = process.env["BENCH_CITUS_URL"];
  if (url === undefined) throw new Error("Set BENCH_CITUS_URL to the coordinator of a Citus database.");
  return url;
}

export async function nodesOf(url: string): Promise<{ readonly coordinator: Node; readonly others: readonly Node[] }> {
  const rows = await query(url, "SELECT nodename, nodeport, groupid FROM pg_dist_node WHERE isactive ORDER BY groupid");
  const nodes: Node[] = rows.map(({ nodename, nodeport, groupid }) => {
    const own = Object.assign(new URL(url), { hostname: nodename, port: String(nodeport) });
    return { name: `${nodename}:${nodeport}`, groupId: groupid, url: own.href };
  });
  const coordinator = nodes.find(({ groupId }) => groupId === coordinatorGroup);
  if (coordinator === undefined) throw new Error("The coordinator is not among its nodes: citus_set_coordinator_host.");
  return { coordinator, others: nodes.filter((node) => node !== coordinator) };
}

/** The node on which a store's rows are, and the piece of the tables there. */
export async function placeOf(
  url: string,
  store: string,
): Promise<{ readonly groupId: number; readonly shard: string }> {
  const statement = `SELECT groupid AS "groupId", shardid::text AS shard FROM pg_dist_placement
    WHERE shardid = get_shard_id_for_distribution_column('"Store"', $1::text)`;
  return (await query(url, statement, [store]))[0];
}

/** The CPU time of a node's processes so far, those that have ended too, in microseconds. */
export async function cpuOf({ url }: Node): Promise<number> {
  const postmaster = await postmasterOf(url);
  const stats = await query(
    url,
    `SELECT pid::int, pg_read_file('/proc/' || pid || '/stat', 0, 4096, true) AS stat FROM pg_ls_dir('/proc') AS pid WHERE pid ~ '^[0-9]+$'`,
  );
  let ticks = 0;
  for (const { pid, stat } of stats) {
    const fields =
      stat
        ?.slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number) ?? [];
    const [utime = 0, stime = 0, ofEnded = 0, systemOfEnded = 0] = fields.slice(11);
    if (pid === postmaster) ticks += utime + stime + ofEnded + systemOfEnded;
    else if (fields[1] === postmaster) ticks += utime + stime;
  }
  return (ticks / ticksPerSecond) * 1e6;
}

/** The processes of a node on this machine: the postmaster first. */
export async function processesOf({ url }: Node): Promise<number[]> {
  const postmaster = await postmasterOf(url);
  const others = await query(url, "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()");
  return [postmaster, ...others.map(({ pid }) => pid)];
}

async function postmasterOf(url: string): Promise<number> {
  const statement = "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS postmaster";
  return (await query(url, statement))[0].postmaster;
}

/** Sends a signal to processes of this machine. */
export function signal(pids: readonly number[], name: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // it has ended
    }
  }
}
