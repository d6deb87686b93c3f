import { LRUCache } from "lru-cache";

/** Types of messages (PostgreSQL manual, 55.7). */
const typeOf = (letter: string): number => letter.charCodeAt(0);
const parse = typeOf("P");
const bind = typeOf("B");
const describe = typeOf("D");
const sync = typeOf("S");
const query = typeOf("Q");
const aboutStatement = typeOf("S");
/** Type and length. */
const headerBytes = 5;
const parseCompleteType = typeOf("1");
const errorType = typeOf("E");
const parseComplete = Uint8Array.of(parseCompleteType, 0, 0, 0, 4);

const statementsMax = 100;
const seenMax = 1_000;
const seenCharactersMax = 2_000_000;
const textBytesMax = 64 * 1024;
/** As of planAge.ts: a plan for an empty table must not serve the thousands of rows that come in its first minute. */
const planAgeMaxMs = 3_000;
/** They may change what a statement gives, or remove it. Wherever one of these words stands, statements are prepared once more. */
const changesStatements = /\b(?:ALTER|CREATE|DROP|DEALLOCATE|DISCARD)\b/iu;

type Receive = (data: Uint8Array) => void;

interface Statement {
  readonly name: string;
  isPrepared: boolean;
}

/** What the engine gets in place of an exchange, and what its client gets. */
interface Exchange {
  readonly messages: readonly Uint8Array[];
  /** Wraps what receives the answer. */
  answered(receive: Receive): Receive;
}

/**
 * Keeps statements prepared that clients send again and again as unnamed ones: parsing and planning take longer than carrying out most
 * of them. All clients share one session and thereby these statements, of which they know nothing.
 */
export class StatementCache {
  readonly #bySource: LRUCache<string, Statement>;
  /** What comes once is not worth keeping. */
  readonly #seen = new LRUCache<string, true>({
    max: seenMax,
    maxSize: seenCharactersMax,
    sizeCalculation: (_, text) => text.length,
  });
  #evicted: string[] = [];
  #names = 0;
  #plannedAt = performance.now();
  #isOutdated = false;

  constructor() {
    this.#bySource = new LRUCache({
      max: statementsMax,
      dispose: ({ name, isPrepared }) => {
        if (isPrepared) this.#evicted.push(name);
      },
    });
  }

  /** Messages to send before an exchange, and only outside of a transaction. */
  cleanup(): Uint8Array | undefined {
    if (this.#isOutdated) this.#bySource.clear();
    this.#isOutdated = false;
    const messages = this.#evicted.map(closeMessage);
    this.#evicted = [];
    if (messages.length > 0) messages.push(syncMessage);
    const now = performance.now();
    if (this.#bySource.size > 0 && now - this.#plannedAt >= planAgeMaxMs) {
      this.#plannedAt = now;
      messages.push(discardPlans);
    }
    return messages.length === 0 ? undefined : Buffer.concat(messages);
  }

  /** To be told of all that reaches the engine, also in parts. */
  note(messages: readonly Uint8Array[]): void {
    for (const message of messages) {
      if (message[0] !== query && message[0] !== parse) continue;
      const text = textOf(message);
      if (!this.#seen.has(text) && changesStatements.test(text)) this.#isOutdated = true;
    }
  }

  /** @returns undefined for an exchange that reaches the engine as it is */
  exchangeFor(messages: readonly Uint8Array[]): Exchange | undefined {
    const [first, ...others] = messages;
    const isUnnamed = first?.[0] === parse && first[headerBytes] === 0;
    if (!isUnnamed || this.#isOutdated || first.length > textBytesMax || !isWhole(others)) return undefined;
    const source = textOf(first);
    if (!this.#seen.has(source)) {
      this.#seen.set(source, true);
      return undefined;
    }
    const statement = this.#bySource.get(source) ?? this.#add(source);
    const renamed = others.map((message) => withName(message, statement.name));
    if (statement.isPrepared) return { messages: renamed, answered: (receive) => this.#afterParse(receive) };
    return {
      messages: [insert(first, headerBytes, statement.name), ...renamed],
      answered: (receive) =>
        withFirst(receive, (answerType) => {
          statement.isPrepared = answerType === parseCompleteType; // not where parsing failed
        }),
    };
  }

  #afterParse(receive: Receive): Receive {
    receive(parseComplete);
    return withFirst(receive, (answerType) => {
      // The statement is gone, or gives something else: by a function, say, that alters a table.
      if (answerType === errorType) this.#isOutdated = true;
    });
  }

  #add(source: string): Statement {
    this.#names += 1;
    const statement = { name: `vitrine_${this.#names}`, isPrepared: false };
    this.#bySource.set(source, statement);
    return statement;
  }
}

/** @param look gets the type of the answer's first message */
function withFirst(receive: Receive, look: (type: number | undefined) => void): Receive {
  let isFirst = true;
  return (data) => {
    if (isFirst) look(data[0]);
    isFirst = false;
    receive(data);
  };
}

/** Whether these, after a Parse, use its statement once and end with Sync: later exchanges cannot refer to it. */
function isWhole(messages: readonly Uint8Array[]): boolean {
  const binds = messages.filter((message) => message[0] === bind);
  return (
    messages.at(-1)?.[0] === sync &&
    !messages.some((message) => message[0] === parse) &&
    binds.length === 1 &&
    binds[0]?.[headerBytes] === 0 && // the unnamed portal
    binds[0][headerBytes + 1] === 0 // of the unnamed statement
  );
}

function withName(message: Uint8Array, name: string): Uint8Array {
  if (message[0] === bind) return insert(message, headerBytes + 1, name);
  const isAboutStatement = message[0] === describe && message[headerBytes] === aboutStatement;
  return isAboutStatement ? insert(message, headerBytes + 1, name) : message;
}

/** Of a statement that is gone, too: that is no error. */
function closeMessage(name: string): Uint8Array {
  return messageOf("C", `S${name}\0`);
}

const syncMessage = messageOf("S", "");
const discardPlans = messageOf("Q", "DISCARD PLANS\0");

function messageOf(letter: string, body: string): Uint8Array {
  const bytes = Buffer.from(`${letter}....${body}`);
  bytes.writeUInt32BE(bytes.length - 1, 1);
  return bytes;
}

/** Puts a name where there is an empty one. */
function insert(message: Uint8Array, at: number, name: string): Uint8Array {
  const longer = Buffer.concat([message.subarray(0, at), Buffer.from(name), message.subarray(at)]);
  longer.writeUInt32BE(longer.length - 1, 1); // the type is not counted
  return longer;
}

/** A byte is a character, so that different bytes are different texts. */
function textOf(message: Uint8Array): string {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength).toString("latin1", headerBytes);
}
