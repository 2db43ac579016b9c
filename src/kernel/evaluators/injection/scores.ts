import type { TextFinding } from '../detectors/finding.js';
import type { InjectionCategory } from './categories.js';

/** A match of a rule in the original text. */
export interface Signal extends TextFinding {
  readonly kind: InjectionCategory;
  readonly rule: string;
}

/** Code units between matches that are looked at together. */
const NEAR = 240;
/** No sum of rules is certain. */
const MOST = 0.99;

/**
 * Matches near each other support each other: the strongest of a group gets the probability that one of them at least is
 * right, as if they were independent, 1 - (1 - a)(1 - b)…, each rule counted once with its best match. The others keep
 * theirs. Matches of one kind that overlap say the same, and are one with the higher score. Returns them in the order of
 * the text.
 */
export function combineScores(signals: readonly Signal[]): Signal[] {
  const order = withoutOverlaps(
    [...signals].sort((left, right) => left.start - right.start || right.end - left.end),
  );
  const combined: Signal[] = [];
  let group: Signal[] = [];
  let reached = 0;
  for (const signal of order) {
    if (group.length > 0 && signal.start - reached > NEAR) {
      for (const one of combineGroup(group)) combined.push(one);
      group = [];
    }
    group.push(signal);
    reached = group.length === 1 ? signal.end : Math.max(reached, signal.end);
  }
  for (const one of combineGroup(group)) combined.push(one);
  return combined;
}

function combineGroup(group: readonly Signal[]): Signal[] {
  const best = new Map<string, Signal>();
  for (const signal of group) {
    const known = best.get(signal.rule);
    if (known === undefined || signal.score > known.score) best.set(signal.rule, signal);
  }
  let doubt = 1;
  let strongest: Signal | undefined;
  for (const signal of best.values()) {
    doubt *= 1 - signal.score;
    if (strongest === undefined || signal.score > strongest.score) strongest = signal;
  }
  const sum = Math.min(MOST, 1 - doubt);
  return group.map((signal) => ({ ...signal, score: round(signal === strongest ? sum : signal.score) }));
}

/** Overlapping matches of one kind as one, with the higher score. */
function withoutOverlaps(signals: readonly Signal[]): Signal[] {
  const merged: Signal[] = [];
  const last = new Map<string, number>();
  for (const signal of signals) {
    const index = last.get(signal.kind);
    const before = index === undefined ? undefined : merged[index];
    if (index !== undefined && before !== undefined && signal.start < before.end) {
      const stronger = signal.score > before.score ? signal : before;
      merged[index] = { ...stronger, start: before.start, end: Math.max(before.end, signal.end) };
    } else {
      last.set(signal.kind, merged.length);
      merged.push(signal);
    }
  }
  return merged;
}

function round(score: number): number {
  return Math.round(score * 100) / 100;
}
