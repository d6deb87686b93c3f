import { receive } from "./bytes.js";

/** Calls a path as `receive` does. @returns the answer, its body read as JSON */
export async function exchange(...call: Parameters<typeof receive>) {
  const { status, headers, bytes } = await receive(...call);
  const body: any = bytes.length === 0 ? undefined : JSON.parse(String(bytes));
  return { status, headers, body };
}
