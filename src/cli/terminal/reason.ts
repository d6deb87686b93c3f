/**
 * Why something failed, in one line. Prisma's errors say first which call failed, and last why: of a raw query as
 * ``Raw query failed. Code: `N/A`. Message: `…` ``.
 */
export function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error);
  const last = text.split("\n").findLast((line) => line.trim() !== "");
  const reason = last?.trim() ?? "failed";
  return /^Raw query failed\. Code: .*? Message: `(.*)`$/u.exec(reason)?.[1] ?? reason;
}
