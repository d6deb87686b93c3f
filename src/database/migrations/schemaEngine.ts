import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlMigrationAwareDriverAdapterFactory,
} from "@prisma/driver-adapter-utils";
import { PrismaPg } from "@prisma/adapter-pg";
import * as bindings from "@prisma/schema-engine-wasm/schema_engine_bg";

/** Its types belong to the DOM library. */
declare const WebAssembly: {
  instantiate(module: Uint8Array, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

/** The engine only needs the dialect. */
const datamodel = 'datasource db { provider = "postgresql" }';

/** Runs scripts in savepoints: a failed one does not abort the transaction, in which the engine queries on. */
export class AtomicPrismaPg extends PrismaPg {
  /** The error of the last failed script; the engine reports only its text. */
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

/** Prisma's schema engine, without a binary to download. Instantiated by hand, since Node cannot import `.wasm`. */
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
    "./schema_engine_bg.js": { ...bindings, ...unrefTimers() },
  });
  bindings.__wbg_set_wasm(instance.exports);
  (instance.exports["__wbindgen_start"] as () => void)();
}

/** Timers of the engine would keep the process alive for 10 seconds. */
function unrefTimers(): object {
  const unref = (callback: () => void, delayMs: number) => setTimeout(callback, delayMs >>> 0).unref();
  const names = Object.keys(bindings).filter((name) => name.startsWith("__wbg_setTimeout_"));
  return Object.fromEntries(names.map((name) => [name, unref]));
}
