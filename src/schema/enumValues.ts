/** The values of an enum type, from the description of each. */
export function enumValues<Value extends string>(
  descriptions: Readonly<Record<Value, string>>,
): Record<Value, { readonly description: string }> {
  const entries = Object.entries(descriptions).map(([value, description]) => [value, { description }]);
  return Object.fromEntries(entries) as Record<Value, { readonly description: string }>;
}
