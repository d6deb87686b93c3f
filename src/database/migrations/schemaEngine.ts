import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from "@prisma/driver-adapter-utils";
import { PrismaPg } from "@prisma/adapter-pg";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";

/** Node has it; its types come with TypeScript's browser library, which a server should not see. */
declare const WebAssembly: {
  instantiate(module: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

/** The datasource and generator blocks play no part in migrating; the engine only wants to know the dialect. */
const datamodel = 'datasource db { provider = "postgresql" }';

/** For a session with a transaction open: a script that fails does not break off that transaction, in which the engine asks on. */
export class AtomicPrismaPg extends PrismaPg {
  /** What the last script that failed failed with. The engine tells its text alone. */
  failure: unknown;

  override async connect() {
    const adapter = await super.connect();
    const execute = adapter.executeScript.bind(adapter);
    adapter.executeScript = async (script) => {
      await adapter.executeRaw({ sql: "SAVEPOINT script", args: [], argTypes: [] });
      try {
        await execute(script);
      } catch (error) {
        this.failure = error;
        await adapter.executeRaw({ sql: "ROLLBACK TO SAVEPOINT script", args: [], argTypes: [] });
        throw error;
      }
    };
    return adapter;
  }
}

let loaded: Promise<void> | undefined;

/**
 * Prisma's schema engine as WebAssembly: the official engine, without the binary that Prisma's own command line downloads.
 * Node cannot import `.wasm` modules yet, so its one module is instantiated here by hand.
 */
export async function openSchemaEngine(adapter: SqlMigrationAwareDriverAdapterFactory): Promise<bindings.SchemaEngine> {
  loaded ??= load();
  await loaded;
  return bindings.SchemaEngine.new(
    { datamodels: [["schema.prisma", datamodel]] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory(adapter),
  );
}

async function load(): Promise<void> {
  const path = createRequire(import.meta.url)
    .resolve("@prisma/schema-engine-wasm")
    .replace(/schema_engine\.js$/u, "schema_engine_bg.wasm");
  const { instance } = await WebAssembly.instantiate(await readFile(path), {
    "./schema_engine_bg.js": { ...bindings, ...timersThatLetGo() },
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports["__wbindgen_start"] as () => void)();
}

/** The engine does not clear its time limits, which would keep a process alive for 10 seconds after a migration. */
function timersThatLetGo(): object {
  const unref = (callback: () => void, delayMs: number) => setTimeout(callback, delayMs >>> 0).unref();
  const names = Object.keys(bindings).filter((name) => name.startsWith("__wbg_setTimeout_"));
  return Object.fromEntries(names.map((name) => [name, unref]));
}
