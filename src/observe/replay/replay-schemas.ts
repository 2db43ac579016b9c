import { z } from 'zod';
import { listOrNone, nullable, withDefault, withExample } from '../../contract/input/fields.js';
import { agentName, slugName } from '../../contract/input/names.js';
import { integer } from '../../contract/input/numbers.js';
import { timeWithZone } from '../../contract/input/times.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { MAX_DOCUMENTS } from '../../manage/configuration/configuration-schemas.js';
import { createDocumentSchema } from '../../manage/configuration/document-schema.js';
import { exampleData } from '../../manage/controls/control-data.js';

const MAX_SAMPLES = { min: 1, max: 1_000_000, default: 100_000 } as const;
const MAX_CHANGES = { min: 0, max: 100_000, default: 1_000 } as const;

/** The input schema of ReplaySamples. */
export function createReplaySchema(registry: EvaluatorRegistry) {
  return withExample(
    z.object({
      documents: listOrNone(createDocumentSchema(registry), { max: MAX_DOCUMENTS }),
      without_controls: listOrNone(slugName(), { max: MAX_DOCUMENTS }),
      agent_name: nullable(agentName()),
      since: nullable(timeWithZone().transform((ms) => Math.max(0, ms))),
      max_samples: withDefault(integer(MAX_SAMPLES), MAX_SAMPLES.default),
      max_changes: withDefault(integer(MAX_CHANGES), MAX_CHANGES.default),
    }),
    {
      documents: [{ kind: 'Control', name: 'no-card-numbers', data: exampleData('\\b\\d{16}\\b') }],
      agent_name: 'billing-bot-01',
      max_changes: 100,
    },
  );
}

export type ReplayInput = z.output<ReturnType<typeof createReplaySchema>>;
