// In place of src/files/chunk.ts (vitest.config.ts), so that imports of hundreds of rows already are long ones, stored by
// several statements. Threads get it with each task; processes of tests run dist/, where it is as in production.

/** More than are encoded at once (src/files/chunk.ts). */
export const chunkRowsMax = 300;
