import { z } from 'zod';
import type { ControlService as ControlServiceDesc } from '../../gen/proto/enforcement/v1/control_service_pb.js';
import { type HandlersOf, handler } from '../contract/call/handler.js';
import { withoutUndefined } from '../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../core/evaluator.js';
import { controlJsonSchema } from './control-json-schema.js';
import { createControlSchemas } from './control-schemas.js';
import type { ControlService } from './control-service.js';
import type { ControlVersions } from './control-versions.js';

/** The RPCs of ControlService. */
export function controlHandlers(
  controls: ControlService,
  versions: ControlVersions,
  registry: EvaluatorRegistry,
): HandlersOf<typeof ControlServiceDesc> {
  const schemas = createControlSchemas(registry);
  return {
    createControl: handler(schemas.createControl, ({ name, data, strict }, context) =>
      controls.create(context, name, data, strict),
    ),
    listControls: handler(schemas.listControls, (input) =>
      controls.list({
        cursor: input.cursor ?? null,
        limit: input.limit,
        nameContains: input.name || null,
        enabled: input.enabled ?? null,
        templateBacked: input.template_backed ?? null,
        stepType: input.step_type ?? null,
        stage: input.stage ?? null,
        execution: input.execution ?? null,
        tag: input.tag ?? null,
      }),
    ),
    getControlSchema: handler(z.object({}), () => ({ schema: controlJsonSchema })),
    validateControl: handler(schemas.validateControl, ({ data, strict }, context) =>
      controls.validate(context, data, strict),
    ),
    getControl: handler(schemas.getControl, (input) => controls.get(input.control_id)),
    updateControl: handler(schemas.updateControl, ({ control_id: id, name, enabled, strict }, context) =>
      controls.update(context, id, withoutUndefined({ name, enabled }), strict),
    ),
    deleteControl: handler(schemas.deleteControl, (input, context) =>
      controls.remove(context, input.control_id, input.force),
    ),
    listControlVersions: handler(schemas.listControlVersions, (input) =>
      versions.list(input.control_id, { cursor: input.cursor ?? null, limit: input.limit }),
    ),
    getControlVersion: handler(schemas.getControlVersion, (input) =>
      versions.get(input.control_id, input.version_num),
    ),
    restoreControlVersion: handler(schemas.restoreControlVersion, (input, context) =>
      versions.restore(context, input.control_id, input.version_num),
    ),
    getControlData: handler(schemas.getControlData, (input) => controls.getData(input.control_id)),
    setControlData: handler(schemas.setControlData, (input, context) =>
      controls.setData(context, input.control_id, input.data, input.strict),
    ),
  };
}
