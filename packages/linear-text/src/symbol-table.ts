import { caseVariants } from './fold-case.js';

/**
 * Small numbers for the code units that occur in the values, so that a row of an automaton has one cell for
 * each of them instead of 65,536. Symbol 0 is any other code unit.
 */
export interface SymbolTable {
  /** Number of symbols, 0 included. */
  readonly size: number;
  /** The code unit of a symbol; 0 for symbol 0. */
  readonly units: Uint16Array;
  /** Symbols by code unit, in 256 pages of 256; all pages without symbols are the same object. */
  readonly pages: readonly Uint16Array[];
}

/**
 * Numbers the code units of the values. With `folds` the values are folded, and every code unit has the symbol of its
 * folded form.
 */
export function createSymbolTable(values: readonly string[], folds: boolean): SymbolTable {
  const symbols = new Map<number, number>();
  for (const value of values) {
    for (let at = 0; at < value.length; at += 1) {
      const unit = value.charCodeAt(at);
      if (!symbols.has(unit)) symbols.set(unit, symbols.size + 1);
    }
  }
  const pages: Uint16Array[] = new Array(256).fill(EMPTY_PAGE);
  for (const [unit, symbol] of symbols) {
    for (const variant of folds ? caseVariants(unit) : [unit]) {
      let page = pages[variant >> 8];
      if (page === undefined || page === EMPTY_PAGE) {
        page = new Uint16Array(256);
        pages[variant >> 8] = page;
      }
      page[variant & 0xff] = symbol;
    }
  }
  return { size: symbols.size + 1, units: Uint16Array.from([0, ...symbols.keys()]), pages };
}

const EMPTY_PAGE = new Uint16Array(256);
