/** What one look found. */
export interface Check {
  readonly name: string;
  /** warning: it works, but perhaps not for long, or not as well as it could. */
  readonly status: "ok" | "warning" | "failed";
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
}

export function ok(name: string, detail: string): Check {
  return { name, status: "ok", detail };
}

export function warning(name: string, detail: string, advice: string): Check {
  return { name, status: "warning", detail, advice };
}

export function failed(name: string, detail: string, advice: string): Check {
  return { name, status: "failed", detail, advice };
}
