import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { TextFinding } from '../../packages/detectors/src/detector/finding.js';
import type { JsonObject } from '../../packages/exact-json/src/index.js';
import type { Evaluator } from '../../src/kernel/core/evaluator.js';

/** A text of a corpus, and what is to be found in it. */
export interface MarkedText {
  readonly text: string;
  /** The kind of the list that the text is in; null for a text in which nothing is to be found. */
  readonly kind: string | null;
  /** What is between the marks, in UTF-16 code units. */
  readonly spans: readonly { readonly start: number; readonly end: number }[];
}

/** The half on which scores were chosen, and the one that the documentation reports. */
export type Half = 'dev' | 'test';

/** How often a detector was right about one kind. */
export interface Tally {
  hits: number;
  misses: number;
  falseAlarms: number;
}

/** A half of the corpus of a detector. Every second line of a list is in the half `test`. */
export function markedTexts(detector: string, half: Half): MarkedText[] {
  const lists = (name: string): [string, string[]][] =>
    Object.entries(parse(readFileSync(path.join(import.meta.dirname, detector, name), 'utf8')));
  const inHalf = (_: string, index: number): boolean => (index % 2 === 1) === (half === 'test');
  return [
    ...lists('positives.yaml').flatMap(([kind, lines]) =>
      lines.filter(inHalf).map((line) => unmarked(line, kind)),
    ),
    ...lists('negatives.yaml').flatMap(([, lines]) =>
      lines.filter(inHalf).map((line) => unmarked(line, null)),
    ),
  ];
}

function unmarked(line: string, kind: string | null): MarkedText {
  const spans: { start: number; end: number }[] = [];
  let text = '';
  for (const [at, part] of line.split(/[⟦⟧]/).entries()) {
    if (at % 2 === 1) spans.push({ start: text.length, end: text.length + part.length });
    text += part;
  }
  if ((kind === null) !== (spans.length === 0)) throw new Error(`marks and list do not agree: ${line}`);
  return { text, kind, spans };
}

/** What a detector finds in a text. */
export function findingsIn(evaluator: Evaluator, config: JsonObject): (text: string) => TextFinding[] {
  const compiled = evaluator.compile(config);
  return (text) => {
    const result = compiled.evaluate(text, checkCall('input'));
    if (result instanceof Promise) throw new Error('detectors answer at once');
    return (result.metadata?.findings ?? []) as unknown as TextFinding[];
  };
}

/** A check of what a path selects. */
export function checkCall(place: string): Parameters<ReturnType<Evaluator['compile']>['evaluate']>[1] {
  return {
    place: { path: place, negated: false },
    detail: 'full',
    signal: new AbortController().signal,
    step: { type: 'tool', name: 'send', input: {}, output: null, context: null },
    stage: 'pre',
    agent: null,
    nowMs: () => 0,
    textsOf() {
      throw new Error('detectors walk the data themselves');
    },
  } as never;
}

/**
 * Tallies by kind. A finding is right if it overlaps a span of its kind; `sharesSpans` also lets other kinds be found at a
 * span, where one thing may be of several kinds.
 */
export function tally(
  texts: readonly MarkedText[],
  findingsOf: (text: string) => readonly TextFinding[],
  threshold: number,
  sharesSpans = false,
): Map<string, Tally> {
  const tallies = new Map<string, Tally>();
  const of = (kind: string): Tally => {
    const known = tallies.get(kind) ?? { hits: 0, misses: 0, falseAlarms: 0 };
    tallies.set(kind, known);
    return known;
  };
  for (const { text, kind, spans } of texts) {
    const found = findingsOf(text).filter(({ score }) => score >= threshold);
    for (const span of spans) {
      const isHit = found.some((one) => one.kind === kind && overlaps(one, span));
      of(kind ?? '')[isHit ? 'hits' : 'misses'] += 1;
    }
    for (const one of found) {
      const isRight = spans.some((span) => overlaps(one, span) && (sharesSpans || one.kind === kind));
      if (!isRight) of(one.kind).falseAlarms += 1;
    }
  }
  return tallies;
}

function overlaps(one: { start: number; end: number }, other: { start: number; end: number }): boolean {
  return one.start < other.end && other.start < one.end;
}

/** The sum of tallies. */
export function total(tallies: Iterable<Tally>): Tally {
  const sum = { hits: 0, misses: 0, falseAlarms: 0 };
  for (const { hits, misses, falseAlarms } of tallies) {
    sum.hits += hits;
    sum.misses += misses;
    sum.falseAlarms += falseAlarms;
  }
  return sum;
}

/** Cells of a table: what was to be found, precision and recall. */
export function qualityCells({ hits, misses, falseAlarms }: Tally): string {
  const share = (part: number, whole: number): string => (whole === 0 ? '–' : (part / whole).toFixed(2));
  return `${hits + misses} | ${falseAlarms} | ${share(hits, hits + falseAlarms)} | ${share(hits, hits + misses)}`;
}

/** A document with what is between the marks of a name replaced. Throws where it has no such marks. */
export function withGenerated(document: string, name: string, content: string): string {
  const [begin, end] = [`<!-- begin ${name} -->\n`, `\n<!-- end ${name} -->`];
  const start = document.indexOf(begin);
  const stop = document.indexOf(end, start);
  if (start < 0 || stop < 0)
    throw new Error(`the document has no marks "${begin.trim()}" and "${end.trim()}"`);
  return document.slice(0, start + begin.length) + content + document.slice(stop);
}
