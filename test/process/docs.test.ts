import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type Example, examplesOf, isAsShown, runShell } from "../support/docs.js";
import { placeForTest, program, serve } from "../support/process.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What a reader has: a running demo store, its token, and a folder to try things in. */
async function openDemo() {
  const place = await placeForTest();
  const server = await serve({ ...place.env, DEMO_TRAFFIC: "false" });
  onTestFinished(async () => void (await server.stop()));
  const folder = await mkdtemp(join(tmpdir(), "vt-docs-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const env = { ...place.env, PATH: process.env["PATH"] ?? "", PROGRAM: program, TOKEN: server.token ?? "" };
  return { url: server.url, token: server.token ?? "", folder, env };
}

type Demo = Awaited<ReturnType<typeof openDemo>>;

/** `npx vitrine` is the program under test, and the address that of the server under test. */
async function runScript(text: string, { url, env, folder }: Demo): Promise<string> {
  const npx = `npx() { [ "$1" = vitrine ] && shift && "${process.execPath}" "$PROGRAM" "$@"; }`;
  return runShell(`${npx}\n${text.replaceAll("http://127.0.0.1:4000", url)}`, env, folder);
}

async function runOperation(query: string, variables: unknown, { url, token }: Demo): Promise<string> {
  const headers = { "content-type": "application/json", "x-service-access-token": token };
  const body = JSON.stringify({ query, variables });
  return (await fetch(`${url}/graphql`, { method: "POST", headers, body })).text();
}

async function outputOf({ block, variables }: Example, demo: Demo): Promise<string> {
  return block.info === "sh" ? runScript(block.text, demo) : runOperation(block.text, variables, demo);
}

test.each(["docs/access.md", "docs/analytics.md", "docs/catalog.md"])(
  "every command and operation of %s does what the page shows",
  async (page) => {
    const examples = examplesOf(await readFile(join(root, page), "utf8"));
    expect(examples.length).toBeGreaterThan(0);
    const demo = await openDemo();
    for (const example of examples) {
      const printed = await outputOf(example, demo);
      const { output, block } = example;
      if (output === undefined) continue;
      const [shown, value] =
        output.info === "json" ? [JSON.parse(output.text), JSON.parse(printed)] : [output.text, printed];
      if (!isAsShown(shown, value)) expect(value, `${page}, line ${block.line}`).toEqual(shown);
    }
  },
  120_000,
);
