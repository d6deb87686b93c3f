import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { limits } from "../../../src/api/execution/validation/limits.js";
import { KnownOperations } from "../../../src/api/execution/operationCache.js";
import { readPersistedOperations } from "../../../src/api/graphql/persisted.file.js";
import { schema } from "../../../src/api/graphql/schema.js";
import { openFolder } from "../../support/folder.js";
import { importOne } from "../../support/products.js";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const read = "query Read($id: String!) { product(productId: $id) { id title __typename } }";
const watch = "subscription ($lsId: String!) { liveStreamAnalytics(lsId: $lsId) { id } }";
const two = `query One { products { nodes { id } } } query Two { liveStreams { nodes { id } } }`;
const documents = {
  [sha256(read)]: read,
  [sha256(importOne)]: importOne,
  [sha256(watch)]: watch,
  "named-by-hand": two,
};

const folder = await openFolder();

async function fileOf(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

describe("a file of persisted operations", () => {
  const readFrom = (path: string) => readPersistedOperations(path, new KnownOperations(schema));
  const deep = `{ __type(name: "Query") { ${"ofType { ".repeat(limits.depth)} name ${"} ".repeat(limits.depth)} } }`;

  test("makes its operations known, so that the first call already takes the fast path", async () => {
    const known = new KnownOperations(schema);
    expect(await readPersistedOperations(await fileOf("good.json", documents), known)).toEqual(
      new Map(Object.entries(documents)),
    );
    for (const name of [undefined, "Read"]) expect(known.find(read, name)).toBeDefined();
    for (const name of ["One", "Two"]) expect(known.find(two, name)).toBeDefined();
    expect(known.find(watch, undefined), "subscriptions are for Yoga").toBeUndefined();
  });

  test("may be empty", async () => {
    expect(await readFrom(await fileOf("empty.json", {}))).toEqual(new Map());
  });

  test("is refused with every problem of every document", async () => {
    const path = await fileOf("bad.json", {
      good: read,
      syntax: "{ product(",
      fields: "{ nothing another }",
      number: 5,
      type: "type Query { a: Int }",
      deep,
      long: `{ __typename } #${"x".repeat(limits.textCharacters)}`,
      steep: "{a".repeat(2_000) + "}".repeat(2_000),
    });
    await expect(readFrom(path)).rejects.toThrow(
      `PERSISTED_OPERATIONS is not valid: in ${path}, ` +
        [
          "syntax: Syntax Error: Expected Name, found <EOF>",
          'fields: Cannot query field "nothing" on type "Query"',
          'fields: Cannot query field "another" on type "Query"',
          "number: the document must be a string",
          'type: The "Query" definition is not executable',
          "deep: An operation may be nested at most 20 fields deep",
          "long: The text of an operation may have at most 100000 characters",
        ].join("; "),
    );
    await expect(readFrom(path)).rejects.toThrow(/steep: .*(?:tokens|deeply)/u);
  });

  test("is refused when it cannot be read or is not an object", async () => {
    await expect(readFrom(join(folder, "none.json"))).rejects.toThrow("it cannot be read (ENOENT)");
    await expect(readFrom(folder)).rejects.toThrow("it cannot be read (EISDIR)");
    for (const [content, problem] of [
      ["{", "it is not JSON"],
      ["[]", "it must be an object"],
      ["null", "it must be an object"],
      ['"x"', "it must be an object"],
    ] as const) {
      await expect(readFrom(await fileOf("odd.json", content))).rejects.toThrow(problem);
    }
  });

  test("with thousands of problems reports the first hundred", async () => {
    const many = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`op${index}`, "{ nothing }"]));
    const message = await readFrom(await fileOf("many.json", many)).then(
      () => "",
      ({ message: text }: Error) => text,
    );
    expect(message).toContain("op99: ");
    expect(message).not.toContain("op100: ");
    expect(message).toMatch(/and 150 more\.$/u);
  });
});
