import { createAutomaton } from './automaton.js';

/** Scans that one array of 32-bit numbers can distinguish: half a day of steps, then it restarts. */
const MAX_SCANS = 0x7fffffff;

/** Determines in one pass over a text which of many searches may have a match in it. */
export interface Prefilter {
  /**
   * Sets `into[i]` to 1 for every set of literals `i` of which one occurs in the folded text, or in that of one of
   * `more`, and for every set that is null; to 0 for all others. `into` has one element for each set.
   */
  scan(text: string, into: Uint8Array, more?: readonly string[]): void;
}

const NO_TEXTS: readonly string[] = [];

/**
 * Builds the automaton over all literals of all sets; null stands for a search without known literals. The
 * literals are folded and not empty, the texts are not folded. Memory is bounded by the caller's input: about
 * 60 bytes for each code unit of the literals, and at most four megabytes of table (`MAX_TABLE_CELLS`).
 */
export function createPrefilter(sets: readonly (readonly string[] | null)[]): Prefilter {
  const always = Uint8Array.from(sets, (literals) => (literals === null ? 1 : 0));
  const owners = new Map<string, number[]>();
  sets.forEach((literals, set) => {
    for (const literal of new Set(literals ?? [])) {
      const list = owners.get(literal);
      if (list === undefined) owners.set(literal, [set]);
      else list.push(set);
    }
  });
  if (owners.size === 0) return { scan: (_text, into) => into.set(always) };

  const literals = [...owners.keys()];
  const automaton = createAutomaton(literals, true);
  const { trie, output, shorter } = automaton;
  const setsOf = (node: number) =>
    owners.get(literals[trie.valueIndex(node)]?.slice(0, trie.depth(node)) ?? '');
  const setsByNode = new Map<number, readonly number[]>();
  for (let node = 1; node < trie.size; node += 1) {
    if (trie.valueLength(node) > 0) setsByNode.set(node, setsOf(node) ?? []);
  }
  // The last scan that reached a node: the values that end there are marked once per scan.
  const visits = new Int32Array(trie.size);
  let scans = 0;

  return {
    scan(text, into, more = NO_TEXTS) {
      into.set(always);
      if (scans === MAX_SCANS) {
        visits.fill(0);
        scans = 0;
      }
      scans += 1;
      const scan = scans;
      const mark = (reached: number): boolean => {
        for (let node = output[reached] ?? 0; node !== 0; node = shorter[node] ?? 0) {
          if (visits[node] === scan) return false;
          visits[node] = scan;
          for (const set of setsByNode.get(node) ?? []) into[set] = 1;
        }
        return false;
      };
      automaton.walk(text, mark);
      for (const one of more) automaton.walk(one, mark);
    },
  };
}
