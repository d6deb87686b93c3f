/**
 * WebAssembly is compiled by V8's baseline compiler alone. Most processes of tests run for a second or two, of which V8 would
 * spend a third on optimizing the embedded engine and Prisma's query compiler. JavaScript is optimized later than by default, too,
 * where V8 has that option, as it has in Node.js 20. And the heap is first collected as a whole at 256 MB, not at each of the sizes
 * through which it grows: 5 % of the CPU time of a start, and of the tests on PostgreSQL.
 */
export const nodeFlags: readonly string[] = [
  "--liftoff-only",
  "--initial-old-space-size=256",
  ...(process.version.startsWith("v20.") ? ["--interrupt-budget=1000000"] : []),
];
