import { z } from 'zod';
import { isContainer, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import {
  compileCostOf,
  compilePattern,
  estimateCost,
  isTooLarge,
  type LinearPattern,
  MAX_PATTERN_LENGTH,
  normalizeOnce,
  shorten,
} from '../../../../packages/linear-text/src/index.js';
import { nullable, report, text } from '../../../contract/input/fields.js';
import { textOf } from '../../core/data-texts.js';
import type { CompiledEvaluator, Evaluator } from '../../core/evaluator.js';
import { otherForms, spansInForms } from '../../core/other-forms.js';
import type { EvaluatorResult } from '../../core/types.js';
import { normalization } from '../config/config-members.js';
import { ignoresCase, regexForegone, regexWarnings } from './config-warnings.js';

/** Longest quotation of a pattern in a message, in characters; the metadata have all of it. */
const QUOTED_PATTERN_LENGTH = 200;
/** Compiled instructions equivalent in time to reading a configuration with a pattern of one character. */
const CONFIG_COST = 20;

interface RegexConfig {
  readonly pattern: string;
  readonly compiled: LinearPattern;
  readonly normalizes: boolean;
}

const configSchema = z
  .object({
    pattern: text().meta({
      description: `RE2 pattern, searched anywhere in the text. At most ${MAX_PATTERN_LENGTH} characters.`,
    }),
    flags: nullable(z.array(text())).meta({
      description: 'IGNORECASE or I, in any case, makes the search case-insensitive. Others are ignored.',
    }),
    normalize: normalization(),
  })
  .transform(({ pattern, flags = [], normalize }, sink): RegexConfig => {
    try {
      const compiled = compilePattern(pattern, { ignoreCase: flags.some(ignoresCase) });
      return { pattern, compiled, normalizes: normalize !== undefined };
    } catch (error) {
      report(sink, 'value_error', error instanceof Error ? error.message : 'invalid pattern', pattern, [
        'pattern',
      ]);
      return z.NEVER;
    }
  });

const NO_DATA: EvaluatorResult = {
  matched: false,
  confidence: 1,
  message: 'No data to search',
  metadata: null,
  error: null,
};

/** Searches the texts of the data for a pattern. Results are created once: checks do not allocate. */
export const regexEvaluator: Evaluator = {
  name: 'regex',
  version: '1.0.0',
  description: 'Searches the selected data for a regular expression (RE2 syntax, linear time).',
  requiresApiKey: false,
  locates: true,
  timeoutMs: 10_000,
  configSchema,
  configJsonSchema: z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as JsonObject,
  warningsFor: regexWarnings,
  foregone: regexForegone,
  compileCost({ pattern, flags }) {
    if (typeof pattern !== 'string' || pattern.length > MAX_PATTERN_LENGTH) return 0;
    const cost = estimateCost(pattern, Array.isArray(flags) && flags.some(ignoresCase));
    // A pattern that exceeds the limit is rejected separately, before it is compiled.
    return isTooLarge(cost) ? 0 : CONFIG_COST + compileCostOf(cost);
  },
  compile(config): CompiledEvaluator {
    const { pattern, compiled, normalizes } = configSchema.parse(config);
    const quoted = shorten(pattern, QUOTED_PATTERN_LENGTH);
    const metadata: JsonObject = { pattern };
    const found = result(true, `Pattern found: ${quoted}`, metadata);
    const notFound = result(false, `Pattern not found: ${quoted}`, metadata);
    return {
      prefilter: {
        get literals() {
          return compiled.literals;
        },
        normalizes,
        miss: notFound,
      },
      heedsNegation: true,
      sizeBytes: compiled.sizeBytes,
      locate: (text, meter) =>
        spansInForms(text, (form) => {
          const searched = normalizes ? normalizeOnce(form) : form;
          if (searched === form) return compiled.findAll(form, meter);
          // Places in a normalised text are none of the text as it is.
          return compiled.test(searched, meter) ? [{ start: 0, end: form.length }] : [];
        }),
      evaluate(data, call) {
        if (data === null) return NO_DATA;
        if (typeof data === 'string' || !isContainer(data)) {
          const text = textOf(data);
          const isIn = (form: string) => compiled.test(normalizes ? normalizeOnce(form) : form, call);
          // Where a match is required, another form must not satisfy the requirement.
          const isFound = isIn(text) || (!call.place.negated && otherForms(text, call).some(isIn));
          return isFound ? found : notFound;
        }
        const given = call.textsOf(data);
        const texts = normalizes ? given.normalized : given;
        // Where a match is required, an added member must not satisfy the requirement.
        const isFound = call.place.negated ? compiled.test(texts.json, call) : compiled.testAny(texts, call);
        return isFound ? found : notFound;
      },
    };
  },
};

function result(matched: boolean, message: string, metadata: JsonObject): EvaluatorResult {
  return { matched, confidence: 1, message, metadata, error: null };
}
