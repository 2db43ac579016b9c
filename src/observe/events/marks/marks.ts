import type { ObservabilityService as ObservabilityServiceDesc } from '../../../../gen/proto/enforcement/v1/observability_service_pb.js';
import { type HandlersOf, handler } from '../../../contract/call/handler.js';
import { off } from '../observability-handlers.js';
import { MARK_SCHEMAS } from './mark-schemas.js';
import { createMarkService, type MarkServiceOptions } from './mark-service.js';

/** The RPCs about false positives. */
export type MarkHandlers = Pick<HandlersOf<typeof ObservabilityServiceDesc>, keyof typeof MARK_SCHEMAS>;

/** The RPCs of ObservabilityService about false positives. They refuse all calls while events are not stored. */
export function createMarks(options: MarkServiceOptions & { readonly enabled: boolean }): MarkHandlers {
  if (!options.enabled) return { markFalsePositive: off, unmarkFalsePositive: off, listFalsePositives: off };
  const service = createMarkService(options);
  return {
    markFalsePositive: handler(MARK_SCHEMAS.markFalsePositive, (input, context) =>
      service.mark(context, input),
    ),
    unmarkFalsePositive: handler(MARK_SCHEMAS.unmarkFalsePositive, (input, context) =>
      service.unmark(context, input),
    ),
    listFalsePositives: handler(MARK_SCHEMAS.listFalsePositives, (input, context) =>
      service.list(context, input),
    ),
  };
}
