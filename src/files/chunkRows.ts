/** The most rows of an import that one statement stores: a longer import is stored in several. Tests have fewer (vitest.config.ts). */
export const chunkRowsMax = 2_000;
