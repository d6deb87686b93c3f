/** What can be seen of a database from outside: how busy its connections are, and each statement that is sent. */
export interface DatabaseProbe {
  /** Of the connections of this process; undefined before the first query. */
  pool: { readonly totalCount: number; readonly idleCount: number; readonly waitingCount: number } | undefined;
  /** Where set, every statement is sent by it. It is told the text, in which parameters stand for all values. */
  aroundQuery: (<Result>(sql: string, send: () => Promise<Result>) => Promise<Result>) | undefined;
}
