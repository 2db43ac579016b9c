import { z } from 'zod';
import {
  isContainer,
  isNumber,
  type JsonObject,
  type JsonValue,
} from '../../../../packages/exact-json/src/index.js';
import {
  createItemMatcher,
  MAX_NORMALIZED_LENGTH,
  matcherBytes,
  normalizeOnce,
  normalizeText,
  STEPS_PER_ITEM,
  shorten,
  UNITS_PER_STEP,
} from '../../../../packages/linear-text/src/index.js';
import { boolean, field, list, oneOf, refuse, report, withDefault } from '../../../contract/input/fields.js';
import { type DataTexts, textOf } from '../../core/data-texts.js';
import type { CheckCall, CompiledEvaluator, Evaluator } from '../../core/evaluator.js';
import { otherForms, spansInForms } from '../../core/other-forms.js';
import type { EvaluatorResult } from '../../core/types.js';
import { normalization } from '../config/config-members.js';
import { listDemands, listForegone, listWarnings } from './config-warnings.js';

/**
 * Most characters (UTF-16 code units) of all values of a list with `contains`, which needs 60 bytes for each,
 * or of a normalised list.
 */
export const MAX_CONTAINS_LENGTH = 1_000_000;
/** Most items of the data: comparing that many takes some 40 ms. More is an error, which fails closed. */
export const MAX_ITEMS = 100_000;
/** Hits listed in a message. */
const NAMED_HITS = 5;
/** Longest quotation of a hit in a message, in characters; the metadata have all of it. */
const QUOTED_HIT_LENGTH = 100;

const LONE_SURROGATE = /\p{Surrogate}/u;

const listValue = field<string>(
  (value, sink) => {
    if (typeof value === 'boolean') return value ? '1' : '0';
    if (isNumber(value)) return textOf(value);
    if (typeof value === 'string') {
      if (value.trim() === '')
        return refuse(
          sink,
          'value_error',
          'must not be blank: a list takes no empty or whitespace-only strings',
          value,
        );
      if (!LONE_SURROGATE.test(value)) return value;
      return refuse(sink, 'value_error', 'must not contain half of a surrogate pair', value);
    }
    report(sink, 'string_type', 'must be a string', value, ['str']);
    report(sink, 'int_type', 'must be an integer', value, ['int']);
    report(sink, 'float_type', 'must be a number', value, ['float']);
    return z.NEVER;
  },
  { type: ['string', 'integer', 'number'] },
);

const configSchema = z
  .object({
    values: list(listValue).meta({
      description: 'What is compared with the data. May be empty.',
      items: { type: ['string', 'integer', 'number'] },
    }),
    logic: withDefault(oneOf(['any', 'all']), 'any').meta({
      description: 'With all, every item of the data must be in the list. Default any.',
    }),
    match_on: withDefault(oneOf(['match', 'no_match']), 'match').meta({
      description: 'With no_match the control matches when the list does not. Default match.',
    }),
    match_mode: withDefault(oneOf(['exact', 'contains', 'starts_with', 'ends_with']), 'exact').meta({
      description: 'How an item is compared; contains looks for whole words. Default exact.',
    }),
    case_sensitive: withDefault(boolean(), false).meta({ description: 'Default false.' }),
    normalize: normalization(),
  })
  .transform(({ values: given, normalize, ...rest }, sink) => {
    const normalizes = normalize !== undefined;
    const values = normalizes ? given.map(normalizedValue) : given;
    const unseen = values.indexOf('');
    if (unseen >= 0) {
      const message = 'has no character that is seen, so nothing is left of it when it is normalised';
      report(sink, 'value_error', message, given[unseen] ?? null, ['values', unseen]);
    }
    const length = values.reduce((sum, value) => sum + value.length, 0);
    if ((rest.match_mode === 'contains' || normalizes) && length > MAX_CONTAINS_LENGTH) {
      const how = normalizes ? 'when they are normalised' : 'with contains';
      const message = `${how} the values may have ${MAX_CONTAINS_LENGTH} characters together, not ${length}`;
      report(sink, 'value_error', message, given, ['values']);
    }
    return { ...rest, values, normalizes };
  });

/** Compares the selected data, or each item of a selected list, with a list of values. */
export const listEvaluator: Evaluator = {
  name: 'list',
  version: '1.0.0',
  description: 'Compares the selected data, or each item of a selected list, with a list of values.',
  requiresApiKey: false,
  locates: true,
  timeoutMs: 10_000,
  configSchema,
  configJsonSchema: z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject,
  warningsFor: listWarnings,
  foregone: listForegone,
  demands: listDemands,
  compile(config): CompiledEvaluator {
    const { values, normalizes, logic, match_on, match_mode, case_sensitive } = configSchema.parse(config);
    if (values.length === 0) {
      return { evaluate: (data) => notChecked('The list of values is empty', itemsOf(data).length) };
    }
    const matcher = createItemMatcher(values, match_mode, case_sensitive);
    const verdict = (hits: string[], count: number, full: boolean): EvaluatorResult => {
      const condition = logic === 'any' ? hits.length > 0 : hits.length === count;
      const matched = condition === (match_on === 'match');
      const outcome = matched ? 'triggered' : 'not triggered';
      return {
        matched,
        confidence: 1,
        message: `List check ${outcome} (logic ${logic}, match_on ${match_on}): ${named(hits)}`,
        metadata: full ? { logic, match_on, matches: hits, input_count: count } : null,
        error: null,
      };
    };
    const seen = normalizes ? normalizeOnce : (text: string) => text;
    // Only a search for words reads the whole text.
    const spendOn = (text: string, call: CheckCall): void => {
      if (match_mode === 'contains') call.spend?.(text.length / UNITS_PER_STEP);
    };
    const isHit = (text: string, isDemand: boolean, call: CheckCall): boolean => {
      spendOn(text, call);
      if (matcher.matches(seen(text))) return true;
      return !isDemand && otherForms(text, call).some((form) => matcher.matches(seen(form)));
    };
    const hits = (texts: DataTexts, isDemand: boolean, call: CheckCall): boolean => {
      spendOn(texts.json, call);
      return matcher.hits(normalizes ? texts.normalized : texts, isDemand, call);
    };
    // By far the most frequent outcome, one item that is not in the list, is created only once.
    const singleMiss = verdict([], 1, true);
    return {
      sizeBytes: matcherBytes(values, match_mode),
      heedsNegation: true,
      usual: singleMiss,
      locate(text, meter) {
        const inForm = (form: string) => {
          const searched = seen(form);
          if (match_mode === 'contains') meter.spend?.(form.length / UNITS_PER_STEP);
          // Of what must be in the list, all is wrong that is not.
          if (matcher.matches(searched) !== (match_on === 'match')) return [];
          // Places in a normalised text are none of the text as it is.
          const isWhole = match_on === 'no_match' || searched !== form;
          return isWhole ? [{ start: 0, end: form.length }] : matcher.findAll(form, meter);
        };
        return match_on === 'match' ? spansInForms(text, inForm) : inForm(text);
      },
      evaluate(data, call) {
        const full = call.detail === 'full';
        if (data === null) return NO_ITEMS;
        // An allow list requires that the data are in it: an added text must not satisfy that.
        const isDemand = (match_on === 'no_match') !== call.place.negated;
        if (typeof data === 'string' || !isContainer(data)) {
          const text = textOf(data);
          return isHit(text, isDemand, call) ? verdict([text], 1, full) : singleMiss;
        }
        if (!Array.isArray(data)) {
          const texts = call.textsOf(data);
          return hits(texts, isDemand, call) ? verdict([texts.json], 1, full) : singleMiss;
        }
        if (data.length === 0) return NO_ITEMS;
        if (data.length > MAX_ITEMS)
          throw new Error(`the data have ${data.length} items, more than ${MAX_ITEMS}`);
        call.spend?.(data.length * STEPS_PER_ITEM);
        const found: string[] = [];
        for (const item of call.textsOf(data).items) {
          if (typeof item === 'string') {
            if (isHit(item, isDemand, call)) found.push(item);
          } else if (hits(item, isDemand, call)) found.push(item.json);
        }
        return verdict(found, data.length, full);
      },
    };
  },
};

/** Values are part of a bounded definition, but may be longer than the limit of normalisation. */
function normalizedValue(value: string): string {
  return value.length > MAX_NORMALIZED_LENGTH ? value : normalizeText(value);
}

const NO_ITEMS = notChecked('No items to check', 0);

function notChecked(message: string, count: number): EvaluatorResult {
  return { matched: false, confidence: 1, message, metadata: { input_count: count }, error: null };
}

function itemsOf(data: JsonValue): readonly JsonValue[] {
  if (data === null) return [];
  return Array.isArray(data) ? data : [data];
}

function named(hits: readonly string[]): string {
  if (hits.length === 0) return 'no item is in the list';
  const first = hits.slice(0, NAMED_HITS).map((hit) => `"${shorten(hit, QUOTED_HIT_LENGTH)}"`);
  const rest = hits.length - first.length;
  return `found ${first.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
