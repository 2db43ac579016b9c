import { asksForEdges, type CompiledProgram, compileProgram, type Finder } from './engine.js';
import { foldCase } from './fold-case.js';
import { LazyDfa, SearchTooCostly, UNITS_PER_STEP } from './lazy-dfa.js';
import type { SearchTexts } from './normalize-text.js';
import { estimateCost, type PatternCost } from './pattern-cost.js';
import { containsAny, requiredLiterals } from './required-literals.js';

/** Longest pattern text, in UTF-16 code units: longer word lists belong in the `list` evaluator. */
export const MAX_PATTERN_LENGTH = 65_536;
/** Largest compiled program, in instructions: a step of a search may visit all of them. */
export const MAX_PROGRAM_SIZE = 20_000;
/** Largest estimate of the program before the engine simplifies it: compiling this much takes 30 milliseconds. */
export const MAX_UNSIMPLIFIED_SIZE = 50_000;
/** Most code points that character classes may make the compiler visit: about 30 milliseconds. */
export const MAX_CLASS_WORK = 1_000_000;
/**
 * Largest patterns that are parsed again to find their literals, by the same two estimates. Larger ones are
 * rarely useful in a prefilter, and would take twice as long to compile.
 */
const MAX_SIZE_WITH_LITERALS = 5_000;
const MAX_CLASS_WORK_WITH_LITERALS = 50_000;
/**
 * Most steps of one search, in visits of an instruction: about 20 milliseconds in the worst cases found,
 * twice that for the first search of a pattern. Counts only states that the text newly requires, and a
 * quarter of a step for each character; ordinary patterns take a few thousand steps besides.
 */
export const MAX_SEARCH_STEPS = 1_500_000;

/** Receives the steps taken by searches. */
export interface StepMeter {
  spend?(steps: number): void;
}

/** Code units of a verbatim text search equivalent in time to one step. */
const FOUND_UNITS_PER_STEP = 32;

/** Comparisons of characters in the time of a step, in a verbatim search at its worst: each place is compared in full. */
const COMPARISONS_PER_STEP = 21;

/** A compiled pattern. Searching takes time linear in the text. */
export interface LinearPattern {
  /**
   * Whether the pattern matches anywhere in `text`. Throws when the search would cost too much, which depends
   * on the pattern and the text only; never for a text without any of the `literals`. Reports its steps to
   * `meter`.
   */
  test(text: string, meter?: StepMeter): boolean;
  /**
   * The same with a limit of the caller's, which no search exceeds in time either: a verbatim search that might, at its worst,
   * is left out. Throws `SearchTooCostly` beyond it.
   */
  testWithin(text: string, maxSteps: number, meter: StepMeter): boolean;
  /**
   * All matches in `text` from left to right that do not overlap, in UTF-16 code units, empty ones left out. Throws when there
   * are too many, or finding them costs too much; reports as `test`.
   */
  findAll(text: string, meter?: StepMeter): { readonly start: number; readonly end: number }[];
  /** Whether the pattern matches in any of the texts of the data. Throws and reports as `test`. */
  testAny(texts: SearchTexts, meter?: StepMeter): boolean;
  /**
   * Literals of which at least one occurs in the folded form of every text with a match; null when no useful
   * ones are known.
   */
  readonly literals: readonly string[] | null;
  /**
   * Estimated memory in bytes, without the states of its automaton: those of all patterns together are
   * bounded by `MAX_TOTAL_STATE_BYTES`.
   */
  readonly sizeBytes: number;
}

/** Most instructions of a pattern times code units of a text whose matches are found. */
const MAX_FOUND_WORK = 50_000_000;
/** Most matches that are found in a text, and the longest time, in milliseconds: the text after each is searched once more. */
const MAX_FOUND = 100_000;
const MAX_FOUND_MS = 500;
/** Steps of finding a match, and of a code unit before it. */
const STEPS_PER_FIND = 50;
const STEPS_PER_FOUND_UNIT = 8;

function foundAll(
  find: Finder,
  length: number,
  meter: StepMeter | undefined,
): { readonly start: number; readonly end: number }[] {
  const found: { readonly start: number; readonly end: number }[] = [];
  const endsAt = performance.now() + MAX_FOUND_MS;
  let from = 0;
  for (let match = find(); match !== null; match = find()) {
    meter?.spend?.(STEPS_PER_FIND + (match.end - from) * STEPS_PER_FOUND_UNIT);
    from = match.end;
    if (match.end > match.start) found.push(match);
    if (found.length > MAX_FOUND) throw new Error(`there are more than ${MAX_FOUND} matches in the text`);
    if (performance.now() > endsAt) throw new Error('finding all matches in the text takes too long');
  }
  meter?.spend?.((length - from) * STEPS_PER_FOUND_UNIT);
  return found;
}

/** Bytes of a pattern, and of each of its instructions, after its first search. */
const PATTERN_BYTES = 8_000;
const INSTRUCTION_BYTES = 250;

/** Whether a pattern is rejected for its compile cost alone. */
export function isTooLarge({ instructions, classWork }: PatternCost): boolean {
  return instructions > MAX_UNSIMPLIFIED_SIZE || classWork > MAX_CLASS_WORK;
}

function compiled(pattern: string, ignoreCase: boolean): CompiledProgram {
  try {
    return compileProgram(pattern, ignoreCase);
  } catch (error) {
    throw new Error(patternProblem(error), { cause: error });
  }
}

/** The program of a pattern, with its size and cost. Throws if the pattern is invalid or too large. */
function boundedProgram(pattern: string, ignoreCase: boolean) {
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw new Error(`the pattern has ${pattern.length} characters, more than ${MAX_PATTERN_LENGTH}`);
  }
  const cost = estimateCost(pattern, ignoreCase);
  if (isTooLarge(cost)) {
    throw new Error(
      'the pattern is too large: its repetitions or character classes cost too much to compile',
    );
  }
  const made = compiled(pattern, ignoreCase);
  const size = made.program.inst.length;
  if (size > MAX_PROGRAM_SIZE) {
    throw new Error(`the pattern is too large: ${size} instructions, more than ${MAX_PROGRAM_SIZE}`);
  }
  return { ...made, cost, size };
}

/**
 * Compiles a pattern of RE2 syntax. Throws with a message for its author when it is invalid or too large; the
 * bounds are checked before the engine runs, because patterns are as hostile as data.
 */
export function compilePattern(pattern: string, options: { ignoreCase?: boolean } = {}): LinearPattern {
  const ignoreCase = options.ignoreCase === true;
  const { cost, size, program, needles, isLiteral, finder } = boundedProgram(pattern, ignoreCase);
  const seesEdges = asksForEdges(program);
  let dfa: LazyDfa | undefined;
  let literals: readonly string[] | null | undefined;
  /** Steps of the last search. */
  let steps = 0;

  // Computed on demand: most patterns outside the regex evaluator never need them.
  const findLiterals = (): readonly string[] | null => {
    const isSmall =
      cost.instructions <= MAX_SIZE_WITH_LITERALS && cost.classWork <= MAX_CLASS_WORK_WITH_LITERALS;
    if (literals === undefined) literals = isSmall ? requiredLiterals(pattern, ignoreCase) : null;
    return literals;
  };

  const search = (text: string): boolean => {
    steps = 1 + text.length / FOUND_UNITS_PER_STEP;
    // A verbatim search is ten times faster than the automaton.
    for (const needle of needles) if (!text.includes(needle)) return false;
    if (isLiteral) return true;
    dfa ??= new LazyDfa(program);
    try {
      return dfa.test(text, MAX_SEARCH_STEPS);
    } finally {
      steps += dfa.steps;
    }
  };

  /** Like `search`, for each of several texts. */
  const searchEach = (texts: readonly string[]): boolean => {
    steps = texts.length;
    const promising = texts.filter((text) => {
      steps += text.length / FOUND_UNITS_PER_STEP;
      return needles.every((needle) => text.includes(needle));
    });
    if (isLiteral || promising.length === 0) return promising.length > 0;
    dfa ??= new LazyDfa(program);
    try {
      return dfa.testAny(promising, MAX_SEARCH_STEPS);
    } finally {
      steps += dfa.steps;
    }
  };

  /** Outcome of a failed search: no match if the literals rule it out, otherwise the error. */
  const failed = (error: unknown, texts: readonly string[]): false => {
    if (!(error instanceof SearchTooCostly)) throw error;
    const required = findLiterals();
    if (required !== null && !texts.some((text) => containsAny(foldCase(text), required))) return false;
    const length = texts.reduce((sum, text) => sum + text.length, 0);
    throw new Error(`the search would cost too much: ${size} instructions on a text of ${length} characters`);
  };

  return {
    get literals() {
      return findLiterals();
    },
    sizeBytes: PATTERN_BYTES + size * INSTRUCTION_BYTES,
    test(text, meter) {
      try {
        return search(text);
      } catch (error) {
        return failed(error, [text]);
      } finally {
        meter?.spend?.(steps);
      }
    },
    findAll(text, meter) {
      if (!this.test(text, meter)) return [];
      if (size * text.length > MAX_FOUND_WORK)
        throw new Error(
          `the search would cost too much: ${size} instructions on a text of ${text.length} characters`,
        );
      return foundAll(finder(text), text.length, meter);
    },
    testWithin(text, maxSteps, meter) {
      let spent = 1;
      try {
        let isSearched = true;
        for (const needle of needles) {
          const worst = (text.length * needle.length) / COMPARISONS_PER_STEP;
          isSearched &&= spent + worst <= maxSteps / 2;
          if (!isSearched) continue;
          spent += worst;
          if (!text.includes(needle)) return false;
        }
        if (isLiteral && isSearched) return true;
        if (spent + text.length / UNITS_PER_STEP > maxSteps) throw new SearchTooCostly();
        dfa ??= new LazyDfa(program);
        try {
          return dfa.test(text, Math.min(maxSteps - spent, MAX_SEARCH_STEPS));
        } finally {
          spent += dfa.steps;
        }
      } finally {
        meter.spend?.(spent);
      }
    },
    testAny(texts, meter) {
      let spent = 0;
      try {
        if (search(texts.json)) return true;
        spent = steps;
        // A pattern without text anchors matches in the JSON text whatever is not hidden there.
        if (!seesEdges) return texts.hidden.length > 0 && searchEach(texts.hidden);
        if (searchEach(texts.values)) return true;
        spent += steps;
        if (searchEach(texts.names)) return true;
        spent += steps;
        return searchEach(texts.hidden);
      } catch (error) {
        return failed(error, [texts.json, ...texts.hidden]);
      } finally {
        meter?.spend?.(spent + steps);
      }
    },
  };
}

/** Syntax of other engines that RE2 lacks, by its first characters, with the message for it. */
const MISSING: readonly (readonly [start: RegExp, problem: string])[] = [
  [/^\(\?<=/, 'RE2 has no look-behind (?<=…)'],
  [/^\(\?<!/, 'RE2 has no look-behind (?<!…)'],
  [/^\(\?=/, 'RE2 has no look-ahead (?=…)'],
  [/^\(\?!/, 'RE2 has no look-ahead (?!…)'],
  [/^\(\?>/, 'RE2 has no atomic groups (?>…)'],
  [/^\(\?#/, 'RE2 has no comments (?#…)'],
  [/^\(\?[a-zA-Z]*x/, 'RE2 has no flag x'],
  [/^\\(?:[1-9]|k)/, 'RE2 has no back-references'],
  [/^\\Z/, 'RE2 has no \\Z; write \\z'],
  [/^\\u/, 'RE2 has no \\uXXXX; write \\x{XXXX}'],
  [/^[+*?}]\+/, 'RE2 has no possessive quantifiers'],
  [/^\{\d+(?:,\d*)?\}$/, 'RE2 repeats at most 1,000 times, and the first number is not the greater one'],
];

/** Longest quoted part of a pattern, in characters. */
const QUOTED_LENGTH = 60;

/** Message for the author of a pattern, from the error of the engine. */
export function patternProblem(error: unknown): string {
  const { message } = error instanceof Error ? error : { message: '' };
  const said = message.replace(/^error parsing regexp: /, '');
  const piece = /`([\s\S]*)`$/.exec(said)?.[1] ?? '';
  const known = MISSING.find(([start]) => start.test(piece))?.[1];
  const place = piece.length > QUOTED_LENGTH ? `${piece.slice(0, QUOTED_LENGTH)}…`.toWellFormed() : piece;
  return `Invalid regex pattern: ${known ?? said.replace(piece, () => place)}`;
}
