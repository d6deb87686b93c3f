import { expect } from "vitest";

/** What patterns and loops may read again and again where it is repeated. */
const units = [
  " ",
  "\t",
  "\n",
  "\r",
  '"',
  '""',
  "'",
  ",",
  ";",
  "|",
  "/",
  "\\",
  "[",
  "]",
  "{",
  "}",
  "{}",
  "(",
  "=",
  "-",
  ".",
  "0",
  "a",
  "A1",
  "%",
  "%20",
  "@",
  "#",
  "?a=b&",
  "e\u0301\u0323",
  "\u00a0",
  "\ufeff",
  "\u200d",
  "\ud83d\ude00",
  "\ud800",
  "//a.example/",
  " ,",
  '" ',
  '\\"',
  "bearer ",
  "sku=a|",
] as const;

/** Those that a URL or a header can have. */
export const visibleUnits = units.filter((unit) => /^[ -~]+$/u.test(unit));

/** Linear time is far below these, and quadratic time above, even at a nanosecond for each step. */
const short = { characters: 32 * 1024, cpuMsMax: 150 };
const long = { characters: 1024 * 1024, cpuMsMax: 3_000 };
/** Those that take longest where they are short are tried at full length. */
const slowestTried = 2;
const tries = 3;

/** A text of so many characters. */
export function repeated(unit: string, characters: number): string {
  return unit.repeat(Math.ceil(characters / unit.length)).slice(0, characters);
}

interface LinearOptions {
  /** The longest text that this way in takes, 1 MB by default, or that is worth its time. */
  readonly charactersMax?: number;
  readonly of?: readonly string[];
}

/**
 * Gives `work` a long text of each unit and compares the CPU time of this process with a budget, which must be exceeded in each
 * of three tries. Short texts come first, so that what takes quadratic time fails within seconds.
 */
export async function expectLinear(
  work: (text: string) => unknown,
  { charactersMax = Infinity, of = units }: LinearOptions = {},
): Promise<void> {
  const times: { readonly unit: string; readonly cpuMs: number }[] = [];
  for (const unit of of) times.push({ unit, cpuMs: await timeOf(work, unit, short, charactersMax) });
  if (charactersMax <= short.characters) return;
  const slowest = times.toSorted((one, other) => other.cpuMs - one.cpuMs).slice(0, slowestTried);
  for (const { unit } of slowest) await timeOf(work, unit, long, charactersMax);
}

async function timeOf(
  work: (text: string) => unknown,
  unit: string,
  { characters, cpuMsMax }: typeof short,
  charactersMax: number,
): Promise<number> {
  const text = repeated(unit, Math.min(characters, charactersMax));
  return expectWithin(cpuMsMax, () => work(text), `CPU time for ${text.length} characters of ${JSON.stringify(unit)}`);
}

/**
 * Compares the CPU time of this process with a budget, which must be exceeded in each of three tries.
 *
 * @param cpuMsMax on an idle machine of 2024
 * @returns the time of the last try
 */
export async function expectWithin(cpuMsMax: number, work: () => unknown, message = "CPU time"): Promise<number> {
  let [cpuMs, budgetMs] = [Infinity, 0];
  for (let tried = 0; tried < tries && cpuMs >= budgetMs; tried += 1) {
    if (tried > 0) measured = undefined; // others may have become busy meanwhile
    budgetMs = cpuMsMax * (await slowness());
    cpuMs = await cpuMsOf(work);
  }
  expect(cpuMs, message).toBeLessThan(budgetMs);
  return cpuMs;
}

const referenceMs = 60;
let measured: Promise<number> | undefined;

/** How many times as long as on a machine of 2024 a fixed work takes here and now, at least 1. */
function slowness(): Promise<number> {
  measured ??= cpuMsOf(() => {
    for (let round = 0; round < 8; round += 1) JSON.parse(JSON.stringify('a\n"'.repeat(128 * 1024)));
  }).then((cpuMs) => Math.max(1, cpuMs / referenceMs));
  return measured;
}

/** The CPU time of this process while it does something, in milliseconds: what others do on the machine makes no difference. */
async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
