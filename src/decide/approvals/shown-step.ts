import {
  isObject,
  type JsonObject,
  type JsonValue,
  stringifyJson,
} from '../../../packages/exact-json/src/index.js';
import { shorten } from '../../../packages/linear-text/src/index.js';
import { previewOf } from '../../contract/secrets/data-preview.js';
import { MASK } from '../../contract/secrets/mask-credentials.js';
import { maskMembers } from '../../contract/secrets/mask-members.js';
import { maskSecrets } from '../../contract/secrets/mask-secrets.js';
import { compileSelector, isSelectorPath } from '../../kernel/core/selector.js';
import type { Step } from '../../kernel/core/types.js';

/** Longest text of a step that is shown, in bytes of UTF-8. */
const MAX_SHOWN_BYTES = 64 * 1024;
const MAX_QUESTION_LENGTH = 2_000;
/** A place in a question: a selector path in braces. */
const PLACE = /\{([^{}]{1,255})\}/g;
/** Line breaks and control characters, which could make one question look like several. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** The value with secrets masked: by the names of members and by the form of texts and numbers. */
export function maskedValue(value: JsonValue): JsonValue {
  return maskedTexts(maskMembers(value));
}

function maskedTexts(value: JsonValue): JsonValue {
  if (typeof value === 'string') return maskSecrets(value);
  if (Array.isArray(value)) return value.map(maskedTexts);
  if (isObject(value)) return mapObject(value, maskedTexts);
  if (typeof value === 'boolean' || value === null) return value;
  // A number may be a card number.
  const digits = String(value);
  return maskSecrets(digits) === digits ? value : MASK;
}

function mapObject(value: JsonObject, map: (member: JsonValue, name: string) => JsonValue): JsonObject {
  // A member may be named __proto__.
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, map(member, name)]));
}

/** The step as an approver sees it. */
export function shownStep({ type, name, input, output, context }: Step): {
  readonly text: string;
  readonly shortened: boolean;
} {
  const text = stringifyJson(maskedValue({ type, name, input, output, context }));
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_SHOWN_BYTES) return { text, shortened: false };
  // Half a character at the end is left out.
  const cut = new TextDecoder().decode(bytes.subarray(0, MAX_SHOWN_BYTES), { stream: true });
  return { text: cut, shortened: true };
}

/** A question with the data of the step in place of its paths; storable by both databases. */
export function filledQuestion(question: string, step: Step): string {
  const filled = question.replace(PLACE, (place, path: string) =>
    isSelectorPath(path) ? previewOf(compileSelector(path)(step), path).text : place,
  );
  return storableText(shorten(filled, MAX_QUESTION_LENGTH));
}

/** A text in one line that both databases can store. */
export function storableText(text: string): string {
  return text.toWellFormed().replace(BREAKS, ' ').trim();
}

/** What of a changed input cannot be put in place of the original: where, as names and positions. */
export interface MaskProblem {
  readonly path: readonly (string | number)[];
}

/**
 * The input that an approver sent, who saw the original with secrets masked: what stands unchanged where something was masked
 * is the original again. A mask anywhere else has no meaning, and is a problem.
 */
export function restoredInput(sent: JsonValue, original: JsonValue): JsonValue | MaskProblem {
  const problems: MaskProblem[] = [];
  const restored = restore(sent, original, maskedValue(original), [], problems);
  return problems[0] ?? restored;
}

export function isMaskProblem(value: JsonValue | MaskProblem): value is MaskProblem {
  return typeof value === 'object' && value !== null && problemMark.has(value);
}

/** Problems are told from values by identity: an input may have any members. */
const problemMark = new WeakSet<object>();

function restore(
  sent: JsonValue,
  original: JsonValue | undefined,
  masked: JsonValue | undefined,
  path: readonly (string | number)[],
  problems: MaskProblem[],
): JsonValue {
  if (typeof sent === 'string') {
    if (sent === masked && original !== undefined) return original;
    const isOwn = typeof original === 'string' && original.includes(MASK);
    if (sent.includes(MASK) && !isOwn && problems.length === 0) {
      const problem = { path };
      problemMark.add(problem);
      problems.push(problem);
    }
    return sent;
  }
  if (Array.isArray(sent)) {
    const [items, shown] = [listOf(original), listOf(masked)];
    return sent.map((item, index) => restore(item, items[index], shown[index], [...path, index], problems));
  }
  if (!isObject(sent)) return sent;
  return mapObject(sent, (member, name) =>
    restore(member, memberOf(original, name), memberOf(masked, name), [...path, name], problems),
  );
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}
