/** Longest text of an expression, in UTF-16 code units. */
export const MAX_EXPRESSION_LENGTH = 4_096;
/** Most nodes of the tree of an expression. */
export const MAX_NODES = 500;
/** Most brackets open at one place of the text. */
export const MAX_BRACKET_DEPTH = 32;
/** Most comprehensions (`all`, `exists`, `map`, …) inside one another. */
export const MAX_MACRO_DEPTH = 2;
/** Most names, numbers and texts of an expression, checked before it is parsed. */
export const MAX_OPERANDS = 1_000;
/** Largest compiled pattern of `matches`, in instructions: a step of a search may visit all of them. */
export const MAX_PATTERN_INSTRUCTIONS = 2_000;
/**
 * Most work of one evaluation, in search steps of some 13 ns: less than 2 ms, and less than 5 where a step takes several times as
 * long, which no expression that was tried exceeds (`bench/cel-worst.mjs`). An evaluation beyond it ends with an error.
 */
export const MAX_WORK = 100_000;
/** Most characters of the texts, and items of the lists, that one evaluation makes. */
export const MAX_MADE_CHARACTERS = 1_000_000;
export const MAX_MADE_ITEMS = 100_000;
/** Most values of sub-expressions of a trace. */
export const MAX_TRACED = 200;
/** Most problems of an expression that are told. */
export const MAX_PROBLEMS = 20;
