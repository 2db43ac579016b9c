import type { SampleService as SampleServiceDesc } from '../../../gen/proto/enforcement/v1/sample_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import type { RegularLook } from '../../contract/runtime/regular-look.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { Sealing } from '../../contract/secrets/sealing.js';
import type { FindSensitive } from '../../kernel/evaluators/optional-evaluators.js';
import type { Database } from '../../storage/database/database.js';
import type { Mutator } from '../../storage/database/mutator.js';
import { createSampleCapture, type SampleCapture } from './capture.js';
import type { SampleMeter } from './sample-meter.js';
import { createSampleSchemas } from './sample-schemas.js';
import { createSampleService } from './sample-service.js';
import { addDropped, insertSamples } from './sample-store.js';
import { createSampleUpkeep } from './sample-upkeep.js';
import type { SamplingRegistry } from './sampling-registry.js';

export interface SamplesOptions {
  readonly database: Pick<Database, 'client' | 'bulk'>;
  readonly mutate: Mutator;
  readonly rules: SamplingRegistry;
  readonly sealing: Sealing;
  /** Null if the package is not installed: then no rule is made, and no sample taken. */
  readonly findSensitive: FindSensitive | null;
  /** Receives all verdicts. */
  readonly meter: SampleMeter;
  readonly failures: Pick<RepeatLog, 'told' | 'failed'>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Steps that are kept. */
export interface Samples {
  /** Those of SampleService but ReplaySamples. */
  readonly handlers: Omit<HandlersOf<typeof SampleServiceDesc>, 'replaySamples'>;
  readonly capture: SampleCapture;
  readonly upkeep: RegularLook;
}

export function createSamples(options: SamplesOptions): Samples {
  const { database, now } = options;
  const service = createSampleService(options);
  const schemas = createSampleSchemas(now);
  return {
    handlers: {
      createSamplingRule: handler(schemas.createSamplingRule, (input, context) =>
        service.createRule(context, input),
      ),
      listSamplingRules: handler(schemas.listSamplingRules, (_input, context) => service.listRules(context)),
      deleteSamplingRule: handler(schemas.deleteSamplingRule, (input, context) =>
        service.deleteRule(context, input),
      ),
      listSamples: handler(schemas.listSamples, (input, context) => service.list(context, input)),
      getSample: handler(schemas.getSample, ({ decision_id }, context) => service.get(context, decision_id)),
    },
    capture: createSampleCapture({
      ...options,
      insert: (rows) => insertSamples(database, rows),
      addDropped: (dropped) => addDropped(database, dropped),
    }),
    upkeep: createSampleUpkeep(options),
  };
}
