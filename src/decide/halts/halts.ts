import type { HaltService as HaltServiceDesc } from '../../../gen/proto/enforcement/v1/halt_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import { createHaltSchemas } from './halt-schemas.js';
import { createHaltService, type HaltServiceOptions } from './halt-service.js';

/** The RPCs of HaltService. */
export function createHalts(options: HaltServiceOptions): HandlersOf<typeof HaltServiceDesc> {
  const service = createHaltService(options);
  const schemas = createHaltSchemas(options.now);
  return {
    createHalt: handler(schemas.createHalt, (input, context) => service.create(context, input)),
    listHalts: handler(schemas.listHalts, (input, context) => service.list(context, input)),
    getHalt: handler(schemas.getHalt, ({ halt_id }, context) => service.get(context, halt_id)),
    liftHalt: handler(schemas.liftHalt, (input, context) => service.lift(context, input)),
  };
}
