/** Meta's files have lines of these above their header: `# Required | …`, `# ref_application_id 123`, `#LEARN HOW TO …`. */
export const comment = /^\s*"?#\s*(?:ref_(?:application|asset)_id\b|[^\s,;|]+[ |][^,;\t])/iu;

/** What Excel's line `sep=;` above a header names. */
export function separatorIn(line: string): string | undefined {
  return /^\s*"?sep=(.?)"?\s*$/iu.exec(line)?.[1];
}
