import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc"); // for contexts that are made from now on
const collect = runInNewContext("gc") as (options?: { readonly type: "minor" }) => void;

/** Collects all garbage of this thread, which takes tens of milliseconds. */
export function collectGarbage(): void {
  collect();
  collect({ type: "minor" }); // first frees the buffers that the full collection left to a thread of V8
}

/** Collects short-lived garbage, such as buffers of sockets, in less than a millisecond. */
export function collectYoungGarbage(): void {
  collect({ type: "minor" });
}
