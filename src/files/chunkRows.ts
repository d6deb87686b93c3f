/** The most rows of an import that one statement stores. Tests use fewer (vitest.config.ts). */
export const chunkRowsMax = 2_000;
