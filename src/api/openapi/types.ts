/** A JSON Schema, in the dialect of OpenAPI 3.1. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export type JsonSchemas = Readonly<Record<string, JsonSchema>>;

export interface ApiLimits {
  readonly bodyBytesMax: number;
  readonly bulkProductsMax: number;
  /** Calls a minute; 0 means no limit. */
  readonly analyticsRateLimit: number;
  readonly productRateLimit: number;
}
