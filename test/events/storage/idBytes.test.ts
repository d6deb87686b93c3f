import * as fc from "fast-check";
import { expect, test } from "vitest";
import { idArrayLiteral, idBytes, idText } from "../../../src/events/record/eventValues.sql.js";
import { anyText } from "../../support/fuzz/anyText.js";

const bytesOf = (id: string) => Buffer.from(idBytes(id).slice(2), "hex");
const uuid = "0b5ad1c0-89ab-4cde-8f01-23456789abcd";

test("stores a UUID in 16 bytes", () => {
  expect(idBytes(uuid)).toBe("\\x0b5ad1c089ab4cde8f0123456789abcd");
  expect(idText(bytesOf(uuid))).toBe(uuid);
});

test("distinguishes ids that look alike, and returns them unchanged", () => {
  const raw = bytesOf(uuid).toString("latin1");
  const alike = [
    uuid,
    uuid.toUpperCase(),
    uuid.replaceAll("-", ""),
    `{${uuid}}`,
    `urn:uuid:${uuid}`,
    raw,
    "sixteen bytes !!",
  ];
  expect(new Set(alike.map(idBytes)).size).toBe(alike.length);
  for (const id of alike) expect(idText(bytesOf(id))).toBe(id);
});

const ids = fc.oneof(
  fc.uuid(),
  anyText({ minLength: 1, maxLength: 20 }).filter((id) => !id.includes("\0")),
  fc.string({ unit: "grapheme-ascii", minLength: 16, maxLength: 16 }),
);

test("returns any id unchanged", () => {
  fc.assert(
    fc.property(ids, (id) => {
      expect(idText(bytesOf(id))).toBe(id);
    }),
  );
});

test("a list of ids has the bytes of each", () => {
  const almost = [
    uuid.replace("-", "0"),
    uuid.replace("0", "-"),
    uuid.replace("a", "g"),
    uuid.replace("a", "é"),
    `${uuid}0`,
  ];
  const lists = fc.oneof(
    fc.array(fc.uuid()),
    fc.array(fc.oneof(fc.uuid(), fc.constant(""), fc.constantFrom(...almost), ids)),
  );
  fc.assert(
    fc.property(lists, (list) => {
      const escaped = list.map((id) => `\\${idBytes(id)}`); // the bytes are hexadecimal digits, which need no quotes
      expect(idArrayLiteral(list)).toBe(`{${escaped.join(",")}}`);
    }),
  );
});
