// @tier all
import { expect, test } from "vitest";
import { crash, type CrashFigures, type CrashSite, embeddedSite, postgresqlSite } from "../support/faults/crash.js";
import { isLong } from "../support/run/tier.js";

const rounds = isLong ? 25 : 1;
const sites = [
  ["embedded", embeddedSite],
  ["postgresql", (context: Parameters<typeof embeddedSite>[0]) => postgresqlSite("crash", context)],
] as const;

// Side by side, since most of a round is waiting.
test.concurrent.for(sites)(
  "%s: a killed server leaves each request complete or without effect, loses nothing it answered, and all figures are correct",
  async ([engine, openSite], context) => {
    expect(await crashed(engine, await openSite(context))).toMatchObject({ half: 0, lost: 0 });
  },
);

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
