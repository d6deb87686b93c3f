import { describe, expect, test } from "vitest";
import { sendPartitioned } from "../../../src/events/files/events.partitions.js";
import type { ShopperEventInput } from "../../../src/events/events.input.js";
import { asInputs, someEvents } from "../../support/figures.js";

/** Lets others go on, so many times. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe("partitions", () => {
  const events = asInputs(someEvents(1_000));
  async function* source() {
    yield events.slice(0, 300);
    yield events.slice(300);
  }

  test("send one batch each at a time, and keep the order of each viewer's events", async () => {
    const [sent, sizes]: [ShopperEventInput[], number[]] = [[], []];
    let [running, most] = [0, 0];
    const send = async (batch: readonly ShopperEventInput[]) => {
      running += 1;
      most = Math.max(most, running);
      await turns(batch.length % 7);
      running -= 1;
      sent.push(...batch);
      sizes.push(batch.length);
      return { accepted: batch.length - 1, duplicates: 1 };
    };
    const receipt = await sendPartitioned(source(), send, { partitions: 3, batchEvents: 50 });
    expect(receipt).toEqual({ accepted: 1_000 - sizes.length, duplicates: sizes.length });
    expect({ most, largest: Math.max(...sizes) }).toEqual({ most: 3, largest: 50 });
    const keyOf = ({ id, viewerId }: ShopperEventInput) => viewerId ?? id;
    for (const key of new Set(events.map(keyOf))) {
      const ofViewer = (list: readonly ShopperEventInput[]) => list.filter((event) => keyOf(event) === key);
      expect(ofViewer(sent)).toEqual(ofViewer(events));
    }
  });

  test("send no further batches after a failure, and wait for those in progress", async () => {
    let [begun, ended] = [0, 0];
    const send = async (batch: readonly ShopperEventInput[]) => {
      begun += 1;
      if (begun === 2) throw new Error("refused");
      await turns(10);
      ended += 1;
      return { accepted: batch.length, duplicates: 0 };
    };
    await expect(sendPartitioned(source(), send, { partitions: 3, batchEvents: 50 })).rejects.toThrow("refused");
    expect(ended).toBe(begun - 1);
    expect(begun).toBeLessThan(8);
  });
});
