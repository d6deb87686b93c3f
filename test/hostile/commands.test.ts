import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { cli } from "../support/process/cli.js";
import { openFolder } from "../support/folder.js";
import { makeSharedPlace, type Place, removePlace } from "../support/process.js";
import { repeated } from "../support/repetitions.js";

let env: Place["env"];
beforeAll(async () => {
  const place = await makeSharedPlace();
  ({ env } = place);
  return () => removePlace(place);
});

const file = async (name: string, content: string): Promise<string> => {
  const path = join(await openFolder(), name);
  await writeFile(path, content);
  return path;
};

test.each(["__proto__", "constructor", "toString"])(
  "%s is the value of no option, and no name in a mapping",
  async (name) => {
    const csv = await file("a.csv", "id,sku\n1,2\n");
    const mappings = [
      { format: name },
      { delimiter: name },
      { encoding: name },
      { onePer: name },
      { urlTemplate: name },
    ]
      .map((mapping) => JSON.stringify(mapping))
      .concat(`{"map":{"${name}":"id"}}`, `{"defaults":{"${name}":"1"}}`, `{"${name}":{}}`);
    const options = [
      ...["--format", "--delimiter", "--encoding", "--one-per", "--url-template", "--mode"].map((option) => [
        option,
        name,
      ]),
      ["--map", `${name}=id`],
      ["--default", `${name}=1`],
      ...(await Promise.all(mappings.map(async (mapping) => ["--mapping", await file("m.json", mapping)]))),
    ];
    for (const given of options) {
      const { status, stdout, stderr } = await cli(["import", "a-store", csv, ...given], env);
      expect([1, 2]).toContain(status);
      expect([given, stdout]).toEqual([given, ""]);
      expect(stderr).not.toMatch(/TypeError| is not a function|\bat /u);
    }
  },
);

// Quadratic time would be minutes: the time that a test has is the bound.
test("a mapping of a megabyte is read in linear time", async () => {
  const mapping = await file("m.json", `{"map":${repeated("[", 1e6)}`);
  const { stderr } = await cli(["import", "a-store", mapping, "--mapping", mapping], env);
  expect(stderr).toContain("is not a mapping");
});
