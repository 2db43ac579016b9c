import type { MemoryService } from '../../../gen/proto/enforcement/v1/memory_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import { limitSchemas as schemas } from './limit-schemas.js';
import { createLimitService, type LimitServiceOptions } from './limit-service.js';

/** The RPCs of MemoryService. */
export function createLimits(options: LimitServiceOptions): HandlersOf<typeof MemoryService> {
  const limits = createLimitService(options);
  return {
    listLimits: handler(schemas.listLimits, (input, context) => limits.list(context, input)),
    getMemoryKey: handler(schemas.getMemoryKey, (input, context) => limits.get(context, input)),
    resetMemoryKey: handler(schemas.resetMemoryKey, (input, context) => limits.reset(context, input)),
    getMemoryStatus: handler(schemas.getMemoryStatus, (_input, context) => limits.status(context)),
  };
}
