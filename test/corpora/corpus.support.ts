import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A text of a corpus. `kinds` are what a detector is to find in it, none for a text in which it is to find nothing. */
export interface Labelled {
  readonly text: string;
  readonly kinds: readonly string[];
}

/** The half on which rules and scores are chosen, and the one that the documentation reports. */
export type Half = 'dev' | 'test';

/** Text of a file of a corpus. */
export function corpusFile(name: string): string {
  return readFileSync(path.join(import.meta.dirname, name), 'utf8');
}

/** Whether an item of a list belongs to a half: every second one is in `test`. */
export function isIn(half: Half, index: number): boolean {
  return (index % 2 === 1) === (half === 'test');
}

/** What a detector says about a text: the kinds of its findings with their scores. */
export type Findings = readonly { readonly kind: string; readonly score: number }[];

export interface Quality {
  readonly precision: number;
  readonly recall: number;
  readonly positives: number;
  readonly negatives: number;
}

/** Precision and recall over texts: a finding of any kind counts; with `kind`, a finding of it in the texts that have it. */
export function qualityOf(
  texts: readonly Labelled[],
  findingsOf: (text: string) => Findings,
  threshold: number,
  kind?: string,
): Quality {
  let hits = 0;
  let misses = 0;
  let falseAlarms = 0;
  let negatives = 0;
  for (const { text, kinds } of texts) {
    const isPositive = kind === undefined ? kinds.length > 0 : kinds.includes(kind);
    const found = findingsOf(text).some(
      (one) => one.score >= threshold && (kind === undefined || one.kind === kind),
    );
    if (isPositive && found) hits += 1;
    else if (isPositive) misses += 1;
    else {
      negatives += 1;
      // A second kind in a text that has another one is no false alarm.
      if (found && kinds.length === 0) falseAlarms += 1;
    }
  }
  const positives = hits + misses;
  return {
    precision: hits + falseAlarms === 0 ? 1 : hits / (hits + falseAlarms),
    recall: positives === 0 ? 1 : hits / positives,
    positives,
    negatives,
  };
}

/** Three digits, such as 0.957: the last one is noise. */
export function shown(share: number): string {
  return share.toFixed(3);
}
