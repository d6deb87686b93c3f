import { until } from "../until.js";

/** What `/metrics` shows: each series, as it is written there, with its value. */
export async function scrape(url: string): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${url}/metrics`);
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}: ${await response.text()}`);
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))];
    }),
  );
}

/** Those of the service itself, without the durations, which are different each time. */
export async function counts(url: string): Promise<Record<string, number>> {
  const series = [...(await scrape(url))];
  return Object.fromEntries(series.filter(([name]) => name.startsWith("vitrine_") && !/_bucket|_sum/u.test(name)));
}

/** Waits until a series has a value: a request is counted a moment after its answer has arrived. */
export async function untilSeries(url: string, series: string, value: number): Promise<void> {
  let last: number | undefined;
  const has = async () => (last = (await scrape(url)).get(series)) === value;
  await until(has, `${series} to be ${value}`).catch((error: Error) => {
    throw new Error(`${error.message} It is ${last}.`);
  });
}
