import { errorAt } from "../errors.js";
import { mustBe } from "../lib/mustBe.js";
import { canBeKey } from "../lib/text.js";
import { builder } from "./builder.js";

export interface Page<Node> {
  readonly nodes: readonly Node[];
  readonly hasNextPage: boolean;
}

interface PageInfoShape {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
}

const PageInfo = builder.objectRef<PageInfoShape>("PageInfo").implement({
  description: "The position of a page in its list.",
  fields: (t) => ({
    hasNextPage: t.exposeBoolean("hasNextPage", { description: "Whether items follow this page." }),
    hasPreviousPage: t.exposeBoolean("hasPreviousPage", {
      description: "Whether the page begins after a cursor, and is not empty.",
    }),
    startCursor: t.exposeString("startCursor", {
      nullable: true,
      description: "The cursor of the first item; null for an empty page.",
    }),
    endCursor: t.exposeString("endCursor", {
      nullable: true,
      description: "The cursor of the last item: pass it as `after` for the next page. Null for an empty page.",
    }),
  }),
});

export const firstByDefault = 20;
export const firstMax = 100;

/** The argument of a field that returns the beginning of a list. */
export function firstArg(defaultValue: number, max = firstMax) {
  return builder.args((t) => ({
    first: t.int({
      required: false,
      defaultValue,
      extensions: { firstMax: max },
      description: `The most items to return: 0 to ${max}. Null means the default.`,
    }),
  }));
}

/** The arguments of a field that returns pages. */
export function pageArgs(firstDefault = firstByDefault) {
  const after = "The page begins after the item with this cursor; empty or null for the first page.";
  return {
    ...firstArg(firstDefault),
    ...builder.args((t) => ({ after: t.string({ required: false, description: after }) })),
  };
}

/** @throws {AppError} VALIDATION_FAILED for a page size out of bounds */
export function pageSize(first: number | null | undefined, byDefault = firstByDefault, max = firstMax): number {
  if (first === null || first === undefined) return byDefault;
  if (first >= 0 && first <= max) return first;
  throw errorAt("VALIDATION_FAILED", mustBe("first", `from 0 to ${max}`, first), ["first"]);
}

/** A cursor with texts of 200 and 255 characters, all of them escaped by JSON, has 3,700. */
const cursorCharactersMax = 4_000;

export function encodeCursor(...key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString("base64url");
}

/** @throws {AppError} VALIDATION_FAILED unless the number of parts of the cursor's sort key is one of these */
export function decodeCursor(
  after: string | null | undefined,
  ...parts: readonly number[]
): readonly string[] | undefined {
  if (after === null || after === undefined || after === "") return undefined;
  if (after.length > cursorCharactersMax) {
    throw errorAt("VALIDATION_FAILED", `after must have at most ${cursorCharactersMax} characters.`, ["after"]);
  }
  try {
    const key: unknown = JSON.parse(Buffer.from(after, "base64url").toString());
    if (Array.isArray(key) && parts.includes(key.length) && key.every(isCursorPart)) return key;
  } catch {
    // not JSON: refused below
  }
  throw errorAt("VALIDATION_FAILED", "after must be a cursor of this list.", ["after"]);
}

function isCursorPart(part: unknown): part is string {
  return typeof part === "string" && canBeKey(part); // otherwise each alias would send a long one to the database
}

/** Counting more would take too long. */
const totalCountMax = 100_000;

type NodeType<Node> = Parameters<typeof builder.objectField>[0] | { readonly $inferType: Node };

interface Edge<Node> {
  node: Node;
  cursor: string;
}

interface Connection<Node> {
  edges: Edge<Node>[];
  nodes: readonly Node[];
  pageInfo: PageInfoShape;
  count: () => Promise<number>;
}

/** The type of a list, such as `ProductConnection`, and a function that makes its values. */
export function connectionType<Node extends object>(
  name: string,
  node: NodeType<Node>,
  cursorOf: (node: Node) => string,
) {
  const type = pageType(name, node);
  const connect = (page: Page<Node>, after: string | null | undefined, countUpTo: CountUpTo): Connection<Node> => {
    const edges = page.nodes.map((item) => ({ node: item, cursor: cursorOf(item) }));
    return { edges, ...connectionOf(page, edges, { after, countUpTo }) };
  };
  return { type, connect };
}

type CountUpTo = (max: number) => Promise<number>;

function connectionOf<Node>(
  { nodes, hasNextPage }: Page<Node>,
  edges: readonly Edge<Node>[],
  { after, countUpTo }: { readonly after: string | null | undefined; readonly countUpTo: CountUpTo },
): Omit<Connection<Node>, "edges"> {
  let counted: Promise<number> | undefined;
  const pageInfo = {
    hasNextPage,
    hasPreviousPage: Boolean(after) && nodes.length > 0,
    startCursor: edges[0]?.cursor ?? null,
    endCursor: edges.at(-1)?.cursor ?? null,
  };
  return { nodes, pageInfo, count: () => (counted ??= countUpTo(totalCountMax + 1)) };
}

function pageType<Node extends object>(name: string, node: NodeType<Node>) {
  const EdgeType = edgeType(name, node);
  return builder.objectRef<Connection<Node>>(`${name}Connection`).implement({
    description: "A page of a list.",
    fields: (t) => ({
      edges: t.field({
        type: [EdgeType],
        description: "The items of the page with their cursors.",
        resolve: ({ edges }) => edges,
      }),
      nodes: t.field({
        type: [node] as never,
        description: "The items of the page.",
        resolve: ({ nodes }) => nodes as never,
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: "The position of the page in its list.",
        resolve: ({ pageInfo }) => pageInfo,
      }),
      totalCount: t.int({
        description: "The number of items on all pages, counted up to 100,000.",
        extensions: { cost: 10 }, // for each item of the page
        resolve: async ({ count }) => Math.min(await count(), totalCountMax),
      }),
      totalCountIsExact: t.boolean({
        description: "False if the list has more items than totalCount.",
        resolve: async ({ count }) => (await count()) <= totalCountMax,
      }),
    }),
  });
}

function edgeType<Node extends object>(name: string, node: NodeType<Node>) {
  return builder.objectRef<Edge<Node>>(`${name}Edge`).implement({
    description: "An item of a list, and its place there.",
    fields: (t) => ({
      node: t.field({ type: node as never, description: "The item itself.", resolve: (edge) => edge.node as never }),
      cursor: t.exposeString("cursor", { description: "Its place: pass it as `after` for the page that follows it." }),
    }),
  });
}
