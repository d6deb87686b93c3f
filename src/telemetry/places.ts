import { Gauge, type Registry } from "prom-client";
import type { FairShare } from "../lib/fairShare.js";

/** What requests take and give back, by what it is for: the value of a label. */
export type Places = Readonly<Record<string, Pick<FairShare, "places" | "held" | "waiting">>>;

/** Without callers, no place is held: one that is has been lost. */
export function collectPlaces(registry: Registry, places: Places): void {
  const gauge = (name: string, help: string, of: "places" | "held" | "waiting") => {
    const collect = (): void => Object.entries(places).forEach(([kind, share]) => made.set({ kind }, share[of]));
    const made = new Gauge({ name, help, labelNames: ["kind"], registers: [registry], collect });
  };
  gauge("vitrine_places", "Places that requests may hold, by what they are for.", "places");
  gauge("vitrine_places_held", "Those of them that are held.", "held");
  gauge("vitrine_places_waiting", "Requests that wait for a place.", "waiting");
}
