import { AppError, type Problem } from "../errors.js";

/** What a failed command says on standard error: one line with the reason, then a line for each problem of the input. */
export function describeFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = `vitrine: ${lastLine(message)}`;
  if (!(error instanceof AppError) || (error.problems.length === 1 && error.problems[0]?.line === undefined))
    return `${reason}\n`;
  const more = error.problemsTotal - error.problems.length;
  const rest = more > 0 ? [`  … and ${more} more`] : [];
  return `${[reason, ...error.problems.map(line), ...rest].join("\n")}\n`;
}

/** What commander says of arguments that it cannot take, in the same form. */
export function describeMisuse(text: string): string {
  return `vitrine: ${text
    .trim()
    .replace(/^error: /u, "")
    .replaceAll(/\s+/gu, " ")} (add --help for what it takes)\n`;
}

function line({ line: lineNumber, path, message }: Problem): string {
  const place = [
    ...(lineNumber === undefined ? [] : [`line ${lineNumber}`]),
    ...(path.length === 0 ? [] : [path.join(".")]),
  ];
  return `  ${place.join(", ")}: ${message}`;
}

/** Prisma's errors say first which call failed, and last why. */
function lastLine(text: string): string {
  return (
    text
      .trim()
      .split("\n")
      .findLast((part) => part.trim() !== "") ?? "failed"
  );
}
