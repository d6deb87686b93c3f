import { LRUCache } from "lru-cache";
import type { Draft, Parent } from "../layout.js";
import type { Notes } from "../notes.js";
import { copied } from "./row.js";

/** How much of a file is held. Beyond that, the oldest parents and waiting rows are dropped. */
const parentCharactersMax = 8 * 1024 * 1024;
const waitingCharactersMax = 4 * 1024 * 1024;
const waitingRowsMax = 10_000;

/** What an entry takes besides its texts. */
const entryCharacters = 100;

/**
 * Parents and the rows that take missing values from them, in any order within a file. Memory is bounded: a row that is too far
 * from its parent is read without it, and noted.
 */
export class ParentRows {
  readonly #parents = new LRUCache<string, Parent>({ maxSize: parentCharactersMax });
  /** In order of arrival. */
  readonly #waiting = new Map<Draft, string>();
  readonly #waitingFor = new Map<string, Set<Draft>>();
  #waitingCharacters = 0;

  constructor(private readonly notes: Notes) {}

  parentOf(key: string): Parent | undefined {
    return this.#parents.peek(key); // not `get`, because other keys would keep a parent whose first key is gone, uncounted
  }

  /** @returns the rows that waited for it */
  remember(keys: readonly string[], { fields, row, from }: Parent): Draft[] {
    const parent = { fields: copied(fields), row: row.copy(), from };
    const characters = row.characters + JSON.stringify(parent.fields).length;
    for (const [at, key] of keys.entries()) {
      this.#parents.set(key, parent, { size: (at === 0 ? characters : 0) + key.length + entryCharacters });
    }
    return keys.flatMap((key) => [...(this.#waitingFor.get(key) ?? [])].map((draft) => this.#release(draft, parent)));
  }

  /** @returns rows that no longer fit into memory */
  wait(key: string, draft: Draft): Draft[] {
    const held = { ...draft, fields: copied(draft.fields), row: draft.row.copy() };
    this.#waiting.set(held, key);
    const siblings = this.#waitingFor.get(key) ?? new Set();
    this.#waitingFor.set(key, siblings.add(held));
    this.#waitingCharacters += sizeOf(held);
    const released: Draft[] = [];
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= waitingRowsMax && this.#waitingCharacters <= waitingCharactersMax) break;
      released.push(this.#release(oldest, undefined));
    }
    return released;
  }

  end(): Draft[] {
    return Array.from(this.#waiting.keys(), (draft) => this.#release(draft, undefined));
  }

  #release(draft: Draft, parent: Parent | undefined): Draft {
    const key = this.#waiting.get(draft) ?? "";
    this.#waiting.delete(draft);
    const siblings = this.#waitingFor.get(key);
    siblings?.delete(draft);
    if (siblings?.size === 0) this.#waitingFor.delete(key);
    this.#waitingCharacters -= sizeOf(draft);
    if (parent === undefined) {
      const reason = "the product that it belongs to is not in the file, or too far away from it.";
      this.notes.count(reason, draft.row.line);
    }
    return { ...draft, parent: parent ?? draft.parent };
  }
}

function sizeOf({ row }: Draft): number {
  return row.characters * 2 + entryCharacters;
}
