import { NotCertain } from './model.js';
import { wordSet } from './word-set.js';

/** Limits of a parser's input. */
export interface ParserBounds {
  /** UTF-16 code units. */
  readonly maxLength: number;
  readonly maxTokens: number;
  /** Levels of the tree that the parser may build: brackets, and nested operators. */
  readonly maxDepth: number;
  /** Whether `a AND b AND c` is one level or two. */
  readonly flatConjunctions: boolean;
}

/** Words that put the text before or after them one level deeper. */
const DEEPENING = wordSet(
  'NOT IS ISNULL NOTNULL IN LIKE ILIKE RLIKE REGEXP GLOB MATCH SIMILAR BETWEEN COLLATE AT DIV MOD XOR ESCAPE ' +
    'JOIN APPLY SELECT IF ELSEIF WHILE LOOP PRIOR BINARY INTERVAL EXPLAIN DESCRIBE DISTINCT OPERATOR OVERLAPS ' +
    'CONNECT_BY_ROOT ALL ANY SOME EXISTS ARRAY ROW CAST',
);
const SET_OPERATORS = new Set(['UNION', 'EXCEPT', 'INTERSECT', 'MINUS']);

/**
 * Counts tokens and an upper bound of the depth of the tree. Parsers recurse: one that overflows its stack
 * inside WebAssembly becomes unusable, so it must never receive a text that deep.
 */
export function createBoundsCheck(bounds: ParserBounds) {
  let tokens = 0;
  /** Depth of the levels around the current one, and within it: of its chain of set operations, and of the list item. */
  let [outer, setChain, item] = [0, 0, 0];
  /** The same of the level around each open bracket. */
  const levels: (readonly [outer: number, setChain: number, item: number])[] = [];

  const open = (): void => {
    levels.push([outer, setChain, item]);
    [outer, setChain, item] = [outer + setChain + item + 1, 0, 0];
  };
  const close = (): void => {
    [outer, setChain, item] = levels.pop() ?? [outer, setChain, item];
  };
  const check = (): void => {
    if (outer + setChain + item > bounds.maxDepth) throw new NotCertain('the query is nested too deeply');
  };

  return {
    /** A token that is neither a word nor a symbol. */
    plain(): void {
      tokens += 1;
      if (tokens > bounds.maxTokens) throw new NotCertain('the query has too many words');
    },
    word(upper: string): void {
      this.plain();
      if (upper === 'CASE' || upper === 'BEGIN') open();
      else if (upper === 'END') close();
      else if (SET_OPERATORS.has(upper)) {
        setChain += 1;
        item = 0;
      } else if (upper === 'AND' || upper === 'OR') item = bounds.flatConjunctions ? 0 : item + 1;
      else if (DEEPENING.has(upper)) item += 1;
      check();
    },
    symbol(code: number): void {
      this.plain();
      switch (code) {
        case 40: // (
        case 91: // [
        case 123: // {
          open();
          break;
        case 41:
        case 93:
        case 125:
          close();
          // A bracket after an operand is an additional level: a[1][2], f(1)(2).
          item += 1;
          break;
        case 44: // ,
          item = 0;
          break;
        case 46: // . only lengthens a name
          break;
        case 59: // ;
          levels.length = 0;
          [outer, setChain, item] = [0, 0, 0];
          break;
        default:
          item += 1;
      }
      check();
    },
  };
}
