import { dataImages, readableBase64 } from './carriers.js';
import { englishRules } from './english-rules.js';
import { type FoldedText, foldText } from './fold.js';
import { hiddenRules, scoreOfUnseen } from './hidden-rules.js';
import { languageRules } from './language-rules.js';
import { markerRules } from './marker-rules.js';
import { createPhraseMatcher, type PhraseMatcher } from './phrase-matcher.js';
import type { InjectionCategory, PhraseRule } from './phrase-rule.js';
import { combineScores, type Signal, shareInContext } from './scores.js';

/** Most matches of a text; a detector reports fewer. */
const MAX_SIGNALS = 20_000;
/** Matches whose surroundings are read, some 400 code units each. The others keep their score. */
const MAX_IN_CONTEXT = 2_000;
/** Score from which a decoded text is a finding, and what it has at least then. */
const LEAST_DECODED = 0.4;
const ENCODED_SCORE = 0.85;
/** Characters of a message in tags that are read. */
const MAX_TAGS = 4_096;
/** Score of a phrase with characters in it that are not seen: such texts are not written by accident. */
const INTERRUPTED_SCORE = 0.9;

/** What a search has found, in the order of the text, and its work beyond the passes over the text. */
export interface InjectionSearch {
  readonly findings: readonly Signal[];
  readonly work: number;
}

/** All rules, of all categories. */
export const INJECTION_RULES: readonly PhraseRule[] = [
  ...englishRules,
  ...languageRules,
  ...markerRules,
  ...hiddenRules,
];

let matcherOfAll: PhraseMatcher | undefined;

/** Searches a text by the rules of the chosen categories. The rules are compiled once. */
export function searchInjection(text: string, chosen: ReadonlySet<InjectionCategory>): InjectionSearch {
  const folded = foldText(text);
  const { signals, work } = phrases(text, folded, chosen);
  if (chosen.has('hidden_text')) signals.push(...unseen(text, folded));
  if (chosen.has('exfiltration')) {
    for (const { start, end, score } of dataImages(text)) {
      signals.push({ kind: 'exfiltration', rule: 'data_image', start, end, score });
    }
  }
  if (chosen.has('encoded')) signals.push(...encoded(text));
  return { findings: combineScores(signals), work };
}

function phrases(
  original: string,
  folded: FoldedText,
  chosen: ReadonlySet<InjectionCategory>,
): { signals: Signal[]; work: number } {
  matcherOfAll ??= createPhraseMatcher(INJECTION_RULES);
  const { text, offsets } = folded;
  const signals: Signal[] = [];
  let work = 0;
  work += matcherOfAll(text, ({ rule, start, end }) => {
    if (!chosen.has(rule.category) || signals.length >= MAX_SIGNALS) return;
    let { score } = rule;
    if (signals.length < MAX_IN_CONTEXT) {
      score *= shareInContext(text, start, end);
      work += 50;
    }
    const [from, to] =
      offsets === null
        ? [start, end]
        : [offsets[start] ?? 0, endOfCharacter(original, offsets[end - 1] ?? 0)];
    if (isInterrupted(folded, from, to)) score = Math.max(score, INTERRUPTED_SCORE);
    signals.push({ kind: rule.category, rule: rule.id, start: from, end: to, score });
  });
  return { signals, work };
}

function endOfCharacter(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** Whether characters that are not seen lie inside a phrase. */
function isInterrupted({ unseen }: FoldedText, start: number, end: number): boolean {
  let low = 0;
  let high = unseen.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((unseen[middle]?.start ?? 0) <= start) low = middle + 1;
    else high = middle;
  }
  return (unseen[low]?.end ?? Number.POSITIVE_INFINITY) < end;
}

function unseen(text: string, folded: FoldedText): Signal[] {
  return folded.unseen.flatMap((run) => {
    const { kind, start, end } = run;
    const score = scoreOfUnseen(run);
    if (score === undefined) return [];
    const isMessage = kind === 'tag' && scoreOf(messageInTags(text, start, end)) >= LEAST_DECODED;
    return [
      { kind: 'hidden_text' as const, rule: `unseen_${kind}`, start, end, score: isMessage ? 0.98 : score },
    ];
  });
}

/** Tag characters stand for the characters of ASCII, 0xE0000 below them. */
function messageInTags(text: string, start: number, end: number): string {
  let message = '';
  for (let at = start; at < Math.min(end, start + 2 * MAX_TAGS); at += 2) {
    message += String.fromCharCode((text.codePointAt(at) ?? 0xe0020) - 0xe0000);
  }
  return message;
}

function encoded(text: string): Signal[] {
  return readableBase64(text).flatMap(({ start, end, decoded }) => {
    const score = scoreOf(decoded);
    if (score < LEAST_DECODED) return [];
    return [{ kind: 'encoded' as const, rule: 'base64', start, end, score: Math.max(ENCODED_SCORE, score) }];
  });
}

const DECODED_CATEGORIES = new Set<InjectionCategory>([
  'override',
  'jailbreak',
  'role_marker',
  'prompt_leak',
  'exfiltration',
  'tool_coercion',
]);

/** The highest score of a text that was carried in another one; nothing is decoded in it. */
function scoreOf(text: string): number {
  const { signals } = phrases(text, foldText(text), DECODED_CATEGORIES);
  return combineScores(signals).reduce((most, { score }) => Math.max(most, score), 0);
}
