import { type Instruction, InstructionOp, type Program } from './engine.js';
import { areEqual, hashOf } from './flat-program.js';
import { caseVariants, foldCodePoint } from './fold-case.js';

const LAST_CODE_POINT = 0x10ffff;
/** Most steps of merging classes, some milliseconds; beyond, classes stay apart, which only costs memory. */
const MAX_MERGE_WORK = 500_000;
/** Pages of a single class are shared between all patterns up to this class. */
const SHARED_PAGES = 64;

/** First and last code points, in pairs. */
type Ranges = ArrayLike<number>;

const NEWLINE: Ranges = [10, 10];
const WORD: Ranges = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];

/** The code points that no instruction of a program distinguishes, as one class each. */
export interface RuneClasses {
  /** Number of classes. */
  readonly count: number;
  /** A code point of each class. */
  readonly samples: Int32Array;
  /** Classes of the code points below 256. */
  readonly latin1: Int32Array;
  /** Class of a code point. */
  classOf(code: number): number;
}

/** Partitions all code points by the conditions of a program's instructions, assertions included. */
export function createRuneClasses(program: Program): RuneClasses {
  const sets = setsOf(program);
  const starts = intervalStarts(sets);
  const classes = mergeIntervals(sets, starts);

  const search = (code: number): number => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if ((starts[middle] ?? 0) <= code) low = middle;
      else high = middle;
    }
    return classes[low] ?? 0;
  };
  const pages: (Int32Array | undefined)[] = new Array(256).fill(undefined);
  const page = (number: number): Int32Array => {
    const known = pages[number];
    if (known !== undefined) return known;
    const added = makePage(search, number);
    pages[number] = added;
    return added;
  };

  const samples: number[] = [];
  classes.forEach((id, interval) => {
    if (samples[id] === undefined) samples[id] = starts[interval] ?? 0;
  });
  return {
    count: samples.length,
    samples: Int32Array.from(samples),
    latin1: page(0),
    classOf: (code) => (code < 0x10000 ? (page(code >> 8)[code & 0xff] ?? 0) : search(code)),
  };
}

/** The distinct sets of code points in the conditions of a program. */
function setsOf(program: Program): Ranges[] {
  const sets: Ranges[] = [];
  const byHash = new Map<number, Ranges[]>();
  const add = (ranges: Ranges) => {
    const hash = hashOf(ranges);
    const alike = byHash.get(hash) ?? [];
    if (alike.some((known) => areEqual(known, ranges))) return;
    alike.push(ranges);
    byHash.set(hash, alike);
    sets.push(ranges);
  };
  for (const instruction of program.inst) {
    if (instruction.op === InstructionOp.EMPTY_WIDTH) {
      add(NEWLINE);
      add(WORD);
    } else if (instruction.op === InstructionOp.RUNE_ANY_NOT_NL) {
      add(NEWLINE);
    } else if (instruction.op === InstructionOp.RUNE || instruction.op === InstructionOp.RUNE1) {
      add(rangesOf(instruction));
    }
  }
  return sets;
}

/** Code points matched by an instruction: ranges, or one code point, plus its variants if case is ignored. */
function rangesOf(instruction: Instruction): Ranges {
  if (instruction.runes.length !== 1) return instruction.runes;
  const variants = caseVariants(foldCodePoint(instruction.runes[0] ?? 0));
  return variants.filter((code) => instruction.matchRune(code)).flatMap((code) => [code, code]);
}

/** Where membership in any set changes. Code points from one start to the next are in the same sets. */
function intervalStarts(sets: readonly Ranges[]): Int32Array {
  const starts = new Set<number>([0]);
  for (const ranges of sets) {
    for (let at = 0; at + 1 < ranges.length; at += 2) {
      starts.add(ranges[at] ?? 0);
      starts.add((ranges[at + 1] ?? 0) + 1);
    }
  }
  starts.delete(LAST_CODE_POINT + 1);
  return Int32Array.from(starts).sort();
}

/** Assigns the same class to intervals that are in the same sets. */
function mergeIntervals(sets: readonly Ranges[], starts: Int32Array): Int32Array {
  const indexes = new Map<number, number>();
  starts.forEach((start, interval) => {
    indexes.set(start, interval);
  });
  indexes.set(LAST_CODE_POINT + 1, starts.length);
  const classes = new Int32Array(starts.length);
  let next = 1;
  let work = 0;
  for (const ranges of sets) {
    const spans = smallerSide(
      Array.from(ranges, (code, at) => indexes.get(code + (at & 1)) ?? 0),
      starts.length,
    );
    work += lengthOf(spans) + spans.length;
    if (work > MAX_MERGE_WORK) return Int32Array.from(starts.keys());
    // A class is split: the intervals inside get a new number.
    const moved = new Map<number, number>();
    for (let at = 0; at + 1 < spans.length; at += 2) {
      for (let interval = spans[at] ?? 0; interval < (spans[at + 1] ?? 0); interval += 1) {
        const old = classes[interval] ?? 0;
        let renamed = moved.get(old);
        if (renamed === undefined) {
          renamed = next;
          next += 1;
          moved.set(old, renamed);
        }
        classes[interval] = renamed;
      }
    }
  }
  const numbers = new Map<number, number>();
  return classes.map((id) => {
    const number = numbers.get(id) ?? numbers.size;
    numbers.set(id, number);
    return number;
  });
}

/** Spans of intervals (from, to), or the gaps between them when those are fewer: both split classes alike. */
function smallerSide(spans: readonly number[], count: number): readonly number[] {
  return lengthOf(spans) * 2 > count ? [0, ...spans, count] : spans;
}

function lengthOf(spans: readonly number[]): number {
  let length = 0;
  for (let at = 0; at + 1 < spans.length; at += 2) length += (spans[at + 1] ?? 0) - (spans[at] ?? 0);
  return length;
}

const constantPages = new Map<number, Int32Array>();

/** The classes of 256 code units. Most pages have a single class; those are shared. */
function makePage(search: (code: number) => number, number: number): Int32Array {
  const page = new Int32Array(256);
  const first = search(number << 8);
  let constant = first < SHARED_PAGES;
  for (let at = 0; at < 256; at += 1) {
    const id = search((number << 8) | at);
    page[at] = id;
    if (id !== first) constant = false;
  }
  if (!constant) return page;
  const shared = constantPages.get(first) ?? page;
  constantPages.set(first, shared);
  return shared;
}
