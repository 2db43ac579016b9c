import { z } from 'zod';
import { LIMITS } from '../../../gen/limits/limits.js';
import { listOrNone, nullable, withDefault, withExample } from '../../contract/input/fields.js';
import { agentName, slugName } from '../../contract/input/names.js';
import { integer } from '../../contract/input/numbers.js';
import { timeWithZone } from '../../contract/input/times.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { createDocumentSchema } from '../../manage/configuration/document-schema.js';
import { exampleData } from '../../manage/controls/control-data.js';

const limits = LIMITS.ReplaySamplesRequest;

/** The input schema of ReplaySamples. */
export function createReplaySchema(registry: EvaluatorRegistry) {
  return withExample(
    z.object({
      documents: listOrNone(createDocumentSchema(registry), limits.documents),
      without_controls: listOrNone(slugName(), limits.without_controls),
      agent_name: nullable(agentName()),
      since: nullable(timeWithZone().transform((ms) => Math.max(0, ms))),
      max_samples: withDefault(integer(limits.max_samples), 100_000),
      max_changes: withDefault(integer(limits.max_changes), 1_000),
    }),
    {
      documents: [{ kind: 'Control', name: 'no-card-numbers', data: exampleData('\\b\\d{16}\\b') }],
      agent_name: 'billing-bot-01',
      max_changes: 100,
    },
  );
}

export type ReplayInput = z.output<ReturnType<typeof createReplaySchema>>;
