import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

/** A process that holds a lock file. */
export interface Holder {
  readonly pid: number;
  /** Tells a process from a later one with the same pid; empty where the system does not say. */
  readonly startedAt: string;
  /** Where its pid means something: a pid namespace, and the boot of its system. Not set where the system does not say. */
  readonly scope?: string;
  /** For people. Of a container it is usually the id. */
  readonly hostname?: string;
  /** Set once other processes may use its database. */
  readonly socketFolder?: string;
}

/** This process. */
export async function thisHolder(): Promise<Holder> {
  const { pid } = process;
  const [startedAt, scope] = await Promise.all([startOf(pid), ownScope()]);
  return { pid, startedAt, ...(scope !== undefined && { scope }), hostname: hostname() };
}

/** Whether it runs where its pid says nothing here: in another container, on another machine, or before a reboot. */
export async function isElsewhere({ scope }: Holder): Promise<boolean> {
  const own = await ownScope();
  return scope !== undefined && own !== undefined && scope !== own;
}

/** Whether a holder that is not elsewhere lives. */
export async function isAlive({ pid, startedAt }: Holder): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (!isCode(error, "EPERM")) return false; // EPERM: it lives and belongs to somebody else
  }
  return (await startOf(pid)) === startedAt;
}

export function isSame(one: Holder | undefined, other: Holder): boolean {
  return one?.pid === other.pid && one.startedAt === other.startedAt && one.scope === other.scope;
}

/** What a lock file says. */
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

/** The kernel gives the number of a namespace to no other while it lives, and gives each boot another id. */
async function ownScope(): Promise<string | undefined> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    return `${boot.trim()} ${await readlink("/proc/self/ns/pid")}`;
  } catch {
    return undefined;
  }
}

/**
 * From /proc/PID/stat (proc(5)) field 22, the start in clock ticks since boot; the name before it may hold spaces.
 * Empty where the system has no such file, and for a zombie: it is gone, though its parent has not noticed.
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
