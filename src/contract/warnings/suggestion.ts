/** Longest word that is searched for, in UTF-16 code units; longer ones are not misspelled names. */
const MAX_WORD_LENGTH = 64;
/** Most pairs of words that one suggester compares: some 20 ms. */
const MAX_COMPARISONS = 10_000;

/** Shortest word that is searched for inside longer ones. */
const MIN_PART_LENGTH = 4;
/** Distance of a word from one that contains it: larger than for any misspelling. */
const PART_DISTANCE = 4;

/** Finds the most likely meaning of misspelled words, in bounded total time. */
export interface Suggester {
  /**
   * The known word that a misspelled one most likely stands for: the same word in another case or with other
   * separators, else the nearest one, of which at most a third, and at most 3 characters, differ, else one
   * that contains it, as `agent_name` contains `agent`. Undefined when there is none. Of equally near ones
   * the first.
   */
  closest(word: string, known: Iterable<string>): string | undefined;
  /** `; did you mean X?` for the closest known word, or nothing. */
  didYouMean(word: string, known: Iterable<string>): string;
}

/** For the words of one request: hostile requests have hundreds of thousands. */
export function createSuggester(maxComparisons = MAX_COMPARISONS): Suggester {
  let left = maxComparisons;
  const find = (word: string, known: Iterable<string>): string | undefined => {
    const bounded = function* () {
      for (const candidate of known) {
        if (left <= 0) return;
        left -= 1;
        yield candidate;
      }
    };
    return left <= 0 ? undefined : closest(word, bounded());
  };
  return {
    closest: find,
    didYouMean(word, known) {
      const found = find(word, known);
      return found === undefined ? '' : `; did you mean ${found}?`;
    },
  };
}

/** For a single word and few known ones; see `Suggester.didYouMean`. */
export function didYouMean(word: string, known: Iterable<string>): string {
  return createSuggester().didYouMean(word, known);
}

function closest(word: string, known: Iterable<string>): string | undefined {
  if (word.length === 0 || word.length > MAX_WORD_LENGTH) return undefined;
  const plain = plainForm(word);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of known) {
    if (candidate === word || candidate.length === 0 || candidate.length > MAX_WORD_LENGTH) continue;
    const distance = distanceOf(plain, candidate);
    if (distance >= least) continue;
    best = candidate;
    least = distance;
  }
  return best;
}

/** Distance of a word in plain form from a known one; infinite when it cannot stand for that. */
function distanceOf(plain: string, candidate: string): number {
  const other = plainForm(candidate);
  if (plain === other) return 0;
  const bound = Math.min(3, Math.floor(Math.max(plain.length, other.length) / 3));
  const distance = Math.abs(plain.length - other.length) > bound ? bound + 1 : editDistance(plain, other);
  if (distance <= bound) return distance;
  const isPart = plain.length >= MIN_PART_LENGTH && candidate.toLowerCase().split('_').includes(plain);
  return isPart ? PART_DISTANCE : Number.POSITIVE_INFINITY;
}

/** `stepTypes`, `Step-Types` and `step_types` are spellings of one name. */
function plainForm(word: string): string {
  return word
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]/g, '');
}

/**
 * Number of insertions, deletions, substitutions and swaps of neighbours that turn one word into the other:
 * the restricted Damerau–Levenshtein distance.
 */
export function editDistance(left: string, right: string): number {
  const a = [...left];
  const b = [...right];
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let cost = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + same,
      );
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, (beforeLast[column - 2] ?? 0) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
