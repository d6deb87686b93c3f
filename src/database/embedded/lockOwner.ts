import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

export interface Holder {
  readonly pid: number;
  /** Distinguishes processes with the same pid; empty if unknown. */
  readonly startedAt: string;
  /** The pid namespace and boot in which the pid is valid. Unset if unknown. */
  readonly scope?: string;
  /** The machine's name, for messages. */
  readonly hostname?: string;
  /** Set once other processes may use its database. */
  readonly socketFolder?: string;
}

export async function thisHolder(): Promise<Holder> {
  const { pid } = process;
  const [startedAt, scope] = await Promise.all([startOf(pid), ownScope()]);
  return { pid, startedAt, ...(scope !== undefined && { scope }), hostname: hostname() };
}

/** Whether the holder runs in another container, on another machine, or ran before a reboot. */
export async function isElsewhere({ scope }: Holder): Promise<boolean> {
  const own = await ownScope();
  return scope !== undefined && own !== undefined && scope !== own;
}

/** Whether a holder on this machine still runs. */
export async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!isCode(error, "EPERM")) return false; // EPERM: it is alive and belongs to another user
  }
  return (await startOf(pid)) === startedAt;
}

export function isSame(one: Holder | undefined, other: Holder): boolean {
  return one?.pid === other.pid && one.startedAt === other.startedAt && one.scope === other.scope;
}

export function parseHolder(text: string): Holder | undefined {
  try {
    const { pid, startedAt, ...more } = JSON.parse(text) as Partial<Holder>;
    if (typeof pid !== "number" || typeof startedAt !== "string") return undefined;
    const detail = (name: keyof typeof more) => (typeof more[name] === "string" ? { [name]: more[name] } : {});
    return { pid, startedAt, ...detail("scope"), ...detail("hostname"), ...detail("socketFolder") };
  } catch {
    return undefined;
  }
}

/** Linux gives each boot an id, and does not reuse the number of a namespace that exists. */
async function ownScope(): Promise<string | undefined> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    return `${boot.trim()} ${await readlink("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}

/**
 * When a process started since boot: field 22 of /proc/PID/stat (proc(5)), after a name that may contain spaces. Empty on other
 * systems, and for a zombie.
 */
async function startOf(pid: number): Promise<string> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const [state, ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? "" : (fields[18] ?? "");
  } catch {
    return "";
  }
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
