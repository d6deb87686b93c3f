/** A JSON Schema, in the dialect of OpenAPI 3.1. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export type JsonSchemas = Readonly<Record<string, JsonSchema>>;

/** The parts of sofa-api's document that the corrected one is built upon. */
export interface DerivedDocument {
  readonly components: { readonly schemas: JsonSchemas };
  /** By path below the base, then by method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, DerivedOperation>>>>;
}

export interface DerivedOperation {
  readonly parameters?: readonly DerivedParameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> };
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>> }>
  >;
}

export interface DerivedParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
}

export interface ApiLimits {
  readonly bodyBytesMax: number;
  readonly bulkProductsMax: number;
  /** Calls a minute; 0 where there is no limit. */
  readonly analyticsRateLimit: number;
  readonly productRateLimit: number;
}
