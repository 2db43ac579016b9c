import type { ControlBindingService } from '../../../gen/proto/enforcement/v1/control_binding_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import { bindingSchemas as schemas } from './binding-schemas.js';
import { type BindingServiceOptions, createBindingService } from './binding-service.js';

/** The RPCs of ControlBindingService. */
export function createBindings(options: BindingServiceOptions): HandlersOf<typeof ControlBindingService> {
  const bindings = createBindingService(options);
  return {
    createControlBinding: handler(schemas.createControlBinding, (input, context) =>
      bindings.create(context, input),
    ),
    listControlBindings: handler(schemas.listControlBindings, (input, context) =>
      bindings.list(context, input),
    ),
    upsertControlBinding: handler(schemas.upsertControlBinding, (input, context) =>
      bindings.upsert(context, input),
    ),
    updateControlBindingByKey: handler(schemas.updateControlBindingByKey, (input, context) =>
      bindings.updateByKey(context, input),
    ),
    deleteControlBindingByKey: handler(schemas.deleteControlBindingByKey, (input, context) =>
      bindings.removeByKey(context, input),
    ),
    getControlBinding: handler(schemas.getControlBinding, (input, context) =>
      bindings.get(context, input.binding_id),
    ),
    updateControlBinding: handler(schemas.updateControlBinding, (input, context) =>
      bindings.update(context, input.binding_id, input.enabled),
    ),
    deleteControlBinding: handler(schemas.deleteControlBinding, (input, context) =>
      bindings.remove(context, input.binding_id),
    ),
  };
}
