// @tier all
import { expect, test } from "vitest";
import { createImportSweep } from "../../src/catalog/import/staging/sweep.js";
import { findHolder } from "../../src/database/embedded/folder.js";
import { connect, embeddedConnection, type OpenDatabase } from "../../src/database/open.js";
import { crash, type CrashFigures, type CrashSite } from "../support/faults/crash.js";
import { createMigratedDatabase } from "../support/database/ownDatabase.js";
import { makePlaceWithStore, removePlace } from "../support/process.js";
import { isLong } from "../support/run/tier.js";
import { until } from "../support/until.js";

// Side by side, since most of a round is waiting.
const rounds = isLong ? 25 : 1;
const timeoutMs = isLong ? undefined : 60_000;

test.concurrent(
  "embedded database: a killed server leaves each request complete or without effect, loses nothing it answered, and all figures are correct",
  async ({ onTestFinished }) => {
    const place = await makePlaceWithStore();
    onTestFinished(() => removePlace(place));
    const { env, dataDir } = place;
    const figures = await crashed("embedded", {
      env,
      open: async () => {
        const socketFolder = (await findHolder(dataDir))?.socketFolder ?? "";
        return connect(embeddedConnection(socketFolder), () => undefined);
      },
      settled: () => Promise.resolve(), // the engine died with the server
    });
    expect(figures).toMatchObject({ half: 0, lost: 0 });
  },
  timeoutMs,
);

test.concurrent(
  "PostgreSQL: a killed server leaves each request complete or without effect, loses nothing it answered, and all figures are correct",
  async ({ onTestFinished }) => {
    const own = await createMigratedDatabase("crash");
    onTestFinished(() => own.drop());
    const figures = await crashed("postgresql", {
      env: { DATABASE_URL: own.url },
      open: () => Promise.resolve(own.open({ application_name: "beside", max: 1 })),
      async settled(database) {
        await until(() => isIdle(database), "PostgreSQL to end the statements of the killed server");
        await sweepLeft(database);
      },
    });
    expect(figures).toMatchObject({ half: 0, lost: 0 });
  },
  timeoutMs,
);

async function isIdle({ client }: OpenDatabase): Promise<boolean> {
  const [row] = await client.$queryRaw<[{ idle: boolean }]>`
    SELECT count(*) = 0 AS idle FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'vitrine' AND state <> 'idle'`;
  return row.idle;
}

/** Other processes may be importing, so rows of imports that were not accepted are removed once they are old. */
async function sweepLeft({ client }: OpenDatabase): Promise<void> {
  await client.$executeRaw`UPDATE "StagedImport" SET "startedAt" = now() - interval '3 hours'`;
  await createImportSweep(client)(new AbortController().signal);
}

/** Runs the rounds, prints a line of figures, and makes sure that there was something to look at. */
async function crashed(engine: string, site: CrashSite): Promise<CrashFigures> {
  const seed = Math.floor(Math.random() * 2 ** 32);
  const figures = await crash(site, rounds, seed).catch((error: unknown) => {
    throw new Error(`The seed was ${seed}.`, { cause: error });
  });
  const { kills, sent, answered, whole, notAtAll, half, lost } = figures;
  process.stdout.write(
    `${engine}: ${rounds} rounds, ${kills} kills, ${sent} requests sent, ${answered} answered, ${whole} in whole, ` +
      `${notAtAll} not at all, ${half} half stored, ${lost} lost (seed ${seed})\n`,
  );
  expect(whole + notAtAll + half).toBe(sent);
  expect(kills).toBeGreaterThanOrEqual(rounds);
  expect(answered, "requests were answered before the kills").toBeGreaterThan(0);
  expect(sent - answered, "and others were on their way").toBeGreaterThanOrEqual(rounds);
  return figures;
}
