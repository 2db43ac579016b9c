import { foldSecondHalf } from './fold-case.js';
import { createSymbolTable } from './symbol-table.js';
import { createTrie, type Trie } from './trie.js';

/**
 * Most cells of the table of one automaton, four bytes each. Nodes beyond it are ends of long values, which
 * texts rarely reach; for these the automaton searches the tree.
 */
export const MAX_TABLE_CELLS = 1_000_000;

/**
 * Searches for many values in one pass over a text (Aho–Corasick): after each code unit the automaton is at
 * the longest prefix of a value that is a suffix of the text read so far, and from there `output` and
 * `shorter` lead to all values that end at this position.
 */
export interface Automaton {
  readonly trie: Trie;
  /** The longest other prefix of a value that is a suffix of a node. */
  readonly fallback: Int32Array;
  /** The longest value that is a suffix of a node, as a node: itself if a value ends there, 0 if none. */
  readonly output: Int32Array;
  /** The next shorter value that is a suffix of a node, as a node, 0 when there is none. */
  readonly shorter: Int32Array;
  /**
   * Calls `visit` wherever a value ends, with the node reached and the index after it, until that returns
   * true; returns whether it did.
   */
  walk(text: string, visit: (node: number, end: number) => boolean): boolean;
}

/**
 * Builds the automaton of non-empty values. With `folds` the values must be folded, and texts are folded
 * during the search as by `foldCase`.
 */
export function createAutomaton(values: readonly string[], folds: boolean): Automaton {
  const trie = createTrie(values);
  const { size: stride, units, pages } = createSymbolTable(values, folds);
  const basicPage = pages[0] ?? new Uint16Array(256);
  const symbolOf = (unit: number): number => pages[unit >> 8]?.[unit & 0xff] ?? 0;

  // Nodes below `rows` have a row in the table. A cell is the next node, negated as ~node where a value ends.
  const rows = Math.max(1, Math.min(trie.size, Math.floor(MAX_TABLE_CELLS / stride)));
  const table = new Int32Array(rows * stride);
  const fallback = new Int32Array(trie.size);
  const output = new Int32Array(trie.size);
  const shorter = new Int32Array(trie.size);

  /** The next node of a node without a row, in the form of a cell. */
  const climb = (from: number, symbol: number): number => {
    const unit = units[symbol] ?? 0;
    let node = from;
    while (node >= rows) {
      const next = symbol === 0 ? 0 : trie.child(node, unit);
      if (next !== 0) return output[next] === 0 ? next : ~next;
      node = fallback[node] ?? 0;
    }
    return table[node * stride + symbol] ?? 0;
  };
  const advance = (node: number, symbol: number): number =>
    node < rows ? (table[node * stride + symbol] ?? 0) : climb(node, symbol);

  // Nodes are numbered by depth, so the fallback of a node is finished before the node.
  for (let node = 1; node < trie.size; node += 1) {
    const parent = trie.parent(node);
    if (parent < rows) table[parent * stride + symbolOf(trie.unit(node))] = node;
  }
  for (let node = 0; node < trie.size; node += 1) {
    const parent = trie.parent(node);
    const cell = parent === 0 ? 0 : advance(fallback[parent] ?? 0, symbolOf(trie.unit(node)));
    const target = cell < 0 ? ~cell : cell;
    fallback[node] = target;
    shorter[node] = output[target] ?? 0;
    output[node] = trie.valueLength(node) > 0 ? node : (shorter[node] ?? 0);
    if (node < rows) completeRow(node, target);
  }
  // Whether a value ends at a node is known for the whole table only from here on.
  for (let at = 0; at < table.length; at += 1) {
    const next = table[at] ?? 0;
    if (next > 0 && output[next] !== 0) table[at] = ~next;
  }

  function completeRow(node: number, target: number): void {
    if (node === 0) return;
    const row = node * stride;
    for (let symbol = 1; symbol < stride; symbol += 1) {
      if (table[row + symbol] === 0) table[row + symbol] = table[target * stride + symbol] ?? 0;
    }
  }

  return {
    trie,
    fallback,
    output,
    shorter,
    walk(text, visit) {
      let node = 0;
      for (let at = 0; at < text.length; at += 1) {
        let unit = text.charCodeAt(at);
        let symbol: number;
        if (unit < 256) {
          symbol = basicPage[unit] ?? 0;
        } else {
          if (folds && (unit & 0xfc00) === 0xdc00 && at > 0) {
            unit = foldSecondHalf(text.charCodeAt(at - 1), unit);
          }
          symbol = symbolOf(unit);
        }
        node = node < rows ? (table[node * stride + symbol] ?? 0) : climb(node, symbol);
        if (node < 0) {
          node = ~node;
          if (visit(node, at + 1)) return true;
        }
      }
      return false;
    },
  };
}
