import { compilePattern } from '../../../packages/linear-text/src/index.js';
import { MASK } from '../../contract/secrets/mask-credentials.js';
import { maskSecrets } from '../../contract/secrets/mask-secrets.js';
import { type Replacement, replaceSpans } from '../../kernel/core/text-spans.js';
import type { FindSensitive } from '../../kernel/evaluators/optional-evaluators.js';
import { maskAssigned } from './assigned-values.js';

/** Replaces what must not be kept by MASK, as it is written: without what is encoded there. */
export interface TextMask {
  /** `place` is as for detectors: where the text is, names of members between slashes. */
  text(text: string, place: string): string;
  /** JSON whose values are masked. */
  json(text: string): string;
}

/**
 * Masks what matches a pattern, and what looks like a secret or personal data. `found` receives what patterns and
 * `findSensitive` find.
 */
export function createTextMask(
  patterns: readonly string[],
  findSensitive: FindSensitive,
  found: (secret: string) => void,
): TextMask {
  const compiled = patterns.map((pattern) => compilePattern(pattern));
  /** Throws if the text cannot be searched. */
  function spansOf(text: string, place: string | null): Replacement[] {
    const spans: Replacement[] = [];
    const add = (start: number, end: number): void => {
      spans.push({ start, end, with: MASK });
      found(text.slice(start, end));
    };
    for (const pattern of compiled) for (const { start, end } of pattern.findAll(text)) add(start, end);
    if (place !== null) findSensitive(text, place, add);
    return spans;
  }
  const masked = (text: string, place: string | null): string | null => {
    try {
      const spans = spansOf(text, place);
      return spans.length === 0 ? text : replaceSpans(text, spans);
    } catch {
      return null;
    }
  };
  return {
    text(text, place) {
      const rest = masked(text, place);
      // It cannot be searched: nothing of it is kept.
      return rest === null ? MASK : maskSecrets(maskAssigned(rest));
    },
    json: (text) => masked(text, null) ?? MASK,
  };
}

/** Longer texts are found only as they are written: a pattern of their length takes long to compile. */
const MAX_FOLDED_LENGTH = 1_000;
const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/** Masks these texts wherever they are, the longest first: in upper and lower case, and with any blanks between their words. */
export function createQuoteMask(secrets: ReadonlySet<string>): TextMask {
  const inOrder = [...secrets].sort((one, other) => other.length - one.length).map(quotePattern);
  const masked = (text: string): string =>
    inOrder.reduce<string>((rest, pattern) => rest.replaceAll(pattern, () => MASK), text);
  return { text: masked, json: masked };
}

function quotePattern(secret: string): RegExp | string {
  if (secret.length > MAX_FOLDED_LENGTH) return secret;
  const words = secret.split(/\s+/).map((word) => word.replaceAll(SYNTAX, '\\$&'));
  return new RegExp(words.join('\\s+'), 'giu');
}
