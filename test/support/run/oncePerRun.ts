/**
 * Makes something once for the setups of all projects: they run in one process, but do not share modules.
 *
 * @param name tells it from others
 */
export function oncePerRun<Made>(name: string, make: () => Promise<Made>): Promise<Made> {
  const key = Symbol.for(`vitrine.test.${name}`);
  const shared = globalThis as typeof globalThis & { [made: symbol]: Promise<Made> | undefined };
  return (shared[key] ??= make());
}
