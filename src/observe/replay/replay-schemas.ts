import { z } from 'zod';
import {
  field,
  list,
  nullable,
  refuse,
  refuseTyped,
  withDefault,
  withExample,
} from '../../contract/input/fields.js';
import { agentName, slugName } from '../../contract/input/names.js';
import { integer } from '../../contract/input/numbers.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { MAX_DOCUMENTS } from '../../manage/configuration/configuration-schemas.js';
import { createDocumentSchema } from '../../manage/configuration/document-schema.js';

const MAX_SAMPLES = { min: 1, max: 1_000_000, default: 100_000 } as const;
const MAX_CHANGES = { min: 0, max: 100_000, default: 1_000 } as const;
const TIME = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;
const TIME_RULE = 'must be a time with a zone, for example 2026-12-31T00:00:00Z';

const time = field<number>(
  (value, sink) => {
    if (typeof value !== 'string') return refuse(sink, 'datetime_type', TIME_RULE, value);
    const ms = TIME.test(value) ? Date.parse(value) : Number.NaN;
    return Number.isNaN(ms) ? refuseTyped(sink, 'datetime_parsing', TIME_RULE, value) : Math.max(0, ms);
  },
  { type: 'string', format: 'date-time' },
);

/** The input schema of ReplaySamples. */
export function createReplaySchema(registry: EvaluatorRegistry) {
  return withExample(
    z.object({
      documents: nullable(list(createDocumentSchema(registry), { max: MAX_DOCUMENTS })).transform(
        (given) => given ?? [],
      ),
      without_controls: nullable(list(slugName(), { max: MAX_DOCUMENTS })).transform((given) => given ?? []),
      agent_name: nullable(agentName()),
      since: nullable(time),
      max_samples: withDefault(integer(MAX_SAMPLES), MAX_SAMPLES.default),
      max_changes: withDefault(integer(MAX_CHANGES), MAX_CHANGES.default),
    }),
    {
      documents: [
        {
          kind: 'Control',
          name: 'no-card-numbers',
          data: {
            execution: 'server',
            condition: {
              selector: { path: 'input.text' },
              evaluator: { name: 'regex', config: { pattern: '\\b\\d{16}\\b' } },
            },
            action: { decision: 'deny' },
          },
        },
      ],
      agent_name: 'billing-bot-01',
      max_changes: 100,
    },
  );
}

export type ReplayInput = z.output<ReturnType<typeof createReplaySchema>>;
