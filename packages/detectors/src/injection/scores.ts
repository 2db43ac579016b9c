import type { TextFinding } from '../detector/finding.js';
import type { InjectionCategory } from './phrase-rule.js';

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

/** Words of texts about attacks, folded. */
const DISCUSSES =
  /\b(?:prompt[- ]injections?|injection (?:attack|attempt|payload|technique)s?|(?:an|the|some) attacker|attackers|adversar\w{1,8}|researchers?|owasp|jailbreaks|jailbreaking|red[- ]team\w{0,4}|malicious \w{1,12}|payloads?|phrases? (?:like|such)|such as|for example|e\.g\.|example of|classifiers?|detectors?|blocklist|tripwire|test (?:case|suite|set)|regression test|angreifer|angriffe?|zum beispiel|attaquants?|par exemple|atacantes?|por ejemplo|por exemplo|attaccant[ei]|per esempio|vulnerabilit\w{1,4}|chat templates?|special tokens?|the tokens?)\b|атак|злоумышленник|например|攻击|攻擊|攻撃|例如|例えば|提示注入/;
/** Code units that are looked at for such words before and behind a match. */
const BEFORE = 220;
const BEHIND = 140;
/** Code units within which quotation marks around a match are looked for. */
const QUOTE_BEFORE = 70;
const QUOTE_BEHIND = 110;
const QUOTES = ['"', '`', '「', '『', "'"];
const CLOSING: Readonly<Record<string, string>> = { '「': '」', '『': '』' };

/** Share of its score that a match keeps in a text that quotes it and is about attacks; or one of these. */
const QUOTED_AND_DISCUSSED = 0.45;
const DISCUSSED = 0.75;
const QUOTED = 0.9;

/** The share of its score that a match keeps where it stands, by what is around it in the folded text. */
export function shareInContext(text: string, start: number, end: number): number {
  const around = `${text.slice(Math.max(0, start - BEFORE), start)} ${text.slice(end, end + BEHIND)}`;
  const isQuoted = quotedAt(text, start, end);
  if (DISCUSSES.test(around)) return isQuoted ? QUOTED_AND_DISCUSSED : DISCUSSED;
  return isQuoted ? QUOTED : 1;
}

/** Whether the nearest quotation mark before a match has its counterpart behind it. */
function quotedAt(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - QUOTE_BEFORE), start);
  const behind = text.slice(end, end + QUOTE_BEHIND);
  return QUOTES.some((open) => {
    const at = before.lastIndexOf(open);
    if (at < 0 || !behind.includes(CLOSING[open] ?? open)) return false;
    // An apostrophe inside a word is none.
    return open !== "'" || at === 0 || /[\s(:]/.test(before[at - 1] ?? '');
  });
}
