import { unreachableNodeOf } from "../../database/errors.js";

/** Why something failed, in one line: the last one of Prisma's errors, or the message in it for a raw query. */
export function reasonOf(error: unknown): string {
  const known = systemReason(error);
  if (known !== undefined) return known;
  const node = unreachableNodeOf(error);
  if (node !== undefined) return `The node ${node} of Citus cannot be reached, which this needs.`;
  const text = error instanceof Error ? error.message || error.name : String(error);
  const last = text.split("\n").findLast((line) => line.trim() !== "");
  const reason = last?.trim() ?? "failed";
  return /^Raw query failed\. Code: \S+ Message: `(.*)`$/u.exec(reason)?.[1] ?? reason;
}

interface SystemError extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
}

/** What a system call that users cause failed with: of a file that they named, or of HOST and PORT. */
function systemReason(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code, syscall, path, address, port } = error as SystemError;
  if (syscall === "listen" || syscall === "bind") return listenReasons[code ?? ""]?.(`port ${port} on ${address}`);
  if (syscall === "open" || syscall === "stat" || syscall === "read") return fileReasons[code ?? ""]?.(path);
  return undefined;
}

const listenReasons: Readonly<Record<string, (place: string) => string>> = {
  EADDRINUSE: (place) => `The ${place} is in use. Stop the program that listens there, or set PORT to another port.`,
  EACCES: (place) => `This user may not listen on ${place}. Set PORT to one above 1023.`,
  EADDRNOTAVAIL: (place) => `Cannot listen on ${place}: HOST must be an address of this machine.`,
};

const fileReasons: Readonly<Record<string, (path: string | undefined) => string>> = {
  ENOENT: (path) => `There is no file ${path}.`,
  EACCES: (path) => `This user may not read ${path}.`,
  EISDIR: (path) => `${path ?? "It"} is a folder, not a file.`,
};
