import { z } from 'zod';
import { field, list, nullable, refuse, refuseTyped } from '../../../../src/contract/input/fields.js';
import { didYouMean } from '../../../../src/contract/warnings/suggestion.js';
import type { Evaluator } from '../../../../src/kernel/core/evaluator.js';
import { UNITS_PER_STEP } from '../../../linear-text/src/index.js';
import { type CompiledDetector, createDetector, threshold } from '../detector/detector.js';
import { CATEGORY_NAMES, type InjectionCategory } from './phrase-rule.js';
import { searchInjection } from './search.js';

const category = field<InjectionCategory>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'string_type', 'must be a string', value);
    const found = CATEGORY_NAMES.find((name) => name === value);
    if (found !== undefined) return found;
    const message = `must be one of: ${CATEGORY_NAMES.join(', ')}${didYouMean(value, CATEGORY_NAMES)}`;
    return refuseTyped(sink, 'literal_error', message, value);
  },
  { type: 'string', enum: [...CATEGORY_NAMES] },
);

const configSchema = z.object({
  categories: nullable(list(category, { min: 1, max: CATEGORY_NAMES.length })).meta({
    description: 'What is searched for. Default: all.',
  }),
  threshold: threshold(0.5),
});

type InjectionConfig = z.infer<typeof configSchema>;

/** Search steps for the passes over a text: it is folded, searched for phrases and for base64. */
const PASSES = 3;

/** Finds texts that are written to instruct a model, by rules: a tripwire, which a determined author steps over. */
export const injectionEvaluator: Evaluator = createDetector<InjectionConfig>({
  name: 'injection',
  version: '1.0.0',
  description: 'Searches all texts of the selected data for instructions to the model: a tripwire of rules.',
  configSchema,
  compile: compileInjection,
});

function compileInjection({ categories, threshold: least }: InjectionConfig): CompiledDetector {
  const chosen = new Set<InjectionCategory>(categories ?? CATEGORY_NAMES);
  return {
    threshold: least,
    sizeBytes: 1_000,
    detect(text, found, spend) {
      const { findings, work } = searchInjection(text, chosen);
      spend((PASSES * text.length) / UNITS_PER_STEP + work);
      for (const { kind, start, end, score } of findings) found({ kind, start, end, score });
    },
  };
}
