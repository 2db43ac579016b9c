/** Deepest condition tree: a leaf counts 1, each composite above it 1 more. Part of the REST contract. */
export const MAX_CONDITION_DEPTH = 12;

/** Most nodes of one condition tree: more indicates a generated tree, not a hand-written rule. */
export const MAX_CONDITION_NODES = 2_000;

/**
 * Most compiled instructions of all patterns of one condition, as estimated from their text: compiling them
 * takes some 30 ms and blocks the thread.
 */
export const MAX_CONDITION_COMPILE_COST = 120_000;
