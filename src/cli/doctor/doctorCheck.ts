export interface Check {
  readonly name: string;
  /** A warning works now, but may fail later or could work better. */
  readonly status: "ok" | "warning" | "failed";
  readonly detail: string;
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
