import type { ShadowService as ShadowServiceDesc } from '../../../gen/proto/enforcement/v1/shadow_service_pb.js';
import { type FurtherProblems, type HandlersOf, handler } from '../../contract/call/handler.js';
import type { RepeatLog } from '../../contract/runtime/repeat-log.js';
import type { ControlLibrary } from '../../decide/decisions/control-library.js';
import { createProgramBuilder, type ProgramBuilder } from '../../decide/decisions/program-builder.js';
import type { VerdictObserver } from '../../decide/decisions/verdict-observer.js';
import type { FindSensitive } from '../../kernel/evaluators/optional-evaluators.js';
import type { Database } from '../../storage/database/database.js';
import { createShadowComparison } from './shadow-comparison.js';
import type { ShadowRegistry } from './shadow-registry.js';
import { createShadowSchemas } from './shadow-schemas.js';
import { createShadowService, type ShadowServiceOptions } from './shadow-service.js';
import { writeNews } from './shadow-store.js';
import { createShadowTallies } from './shadow-tallies.js';
import { createShadowWatch } from './shadow-watch.js';

export interface Shadows {
  readonly handlers: HandlersOf<typeof ShadowServiceDesc>;
  readonly observer: VerdictObserver;
  /** Writes what was counted. Never rejects. */
  close(): Promise<void>;
}

export interface ShadowsOptions extends Omit<ShadowHandlerOptions, 'database' | 'registry'> {
  readonly database: Pick<Database, 'client' | 'bulk'>;
  readonly registry: ShadowRegistry;
  readonly library: ControlLibrary;
  readonly newExecutionId: () => string;
  readonly definitionsOf: ProgramBuilder['definitionsOf'];
  readonly findSensitive: FindSensitive | null;
  readonly failures: Pick<RepeatLog, 'failed'>;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

export interface ShadowHandlerOptions extends ShadowServiceOptions {
  readonly furtherProblems?: FurtherProblems;
}

/** The RPCs of ShadowService. */
export function shadowHandlers(options: ShadowHandlerOptions): HandlersOf<typeof ShadowServiceDesc> {
  const service = createShadowService(options);
  const schemas = createShadowSchemas(options.evaluators);
  return {
    setShadow: handler(
      schemas.setShadow,
      (input, context) => service.set(context, input),
      options.furtherProblems,
    ),
    getShadow: handler(schemas.getShadow, (input, context) => service.get(context, input.control_id)),
    listShadows: handler(schemas.listShadows, (_input, context) => service.list(context)),
    promoteShadow: handler(schemas.promoteShadow, (input, context) => service.promote(context, input)),
    dropShadow: handler(schemas.dropShadow, (input, context) => service.drop(context, input.control_id)),
  };
}

/** Proposed versions of controls, which are compared with them and never decide. */
export function createShadows(options: ShadowsOptions): Shadows {
  const { database, library, newExecutionId, now, failures } = options;
  const tallies = createShadowTallies({ write: (news) => writeNews(database, news), failures });
  // Those of live controls are reported where these decide, and those of shadows are counted.
  const builder = createProgramBuilder({ library, newExecutionId, now, onFailure: () => {} });
  const comparison = createShadowComparison({ ...options, builder, tallies });
  return {
    handlers: shadowHandlers(options),
    observer: createShadowWatch({ ...options, comparison }),
    close() {
      comparison.close();
      return tallies.close();
    },
  };
}
