/** Calls `work` once the signal is aborted, immediately where it was before. @returns a function that ends that */
export function whenAborted(signal: AbortSignal | undefined, work: () => void): () => void {
  signal?.addEventListener("abort", work);
  if (signal?.aborted === true) work();
  return () => signal?.removeEventListener("abort", work);
}
