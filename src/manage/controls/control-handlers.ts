import { z } from 'zod';
import type { ControlService as ControlServiceDesc } from '../../../gen/proto/enforcement/v1/control_service_pb.js';
import { type FurtherProblems, type HandlersOf, handler } from '../../contract/call/handler.js';
import { readAgentName } from '../../contract/input/names.js';
import { withoutUndefined } from '../../contract/input/parse-input.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import { EXECUTIONS, STAGES } from '../../kernel/core/types.js';
import type { ControlClone } from './control-clone.js';
import { controlJsonSchema } from './control-json-schema.js';
import { createControlSchemas } from './control-schemas.js';
import type { ControlService } from './control-service.js';
import type { ControlUsers } from './control-users.js';
import type { ControlVersions } from './control-versions.js';
import type { ExpressionInspector } from './expression-handler.js';
import { filterWord } from './filter-word.js';

/** The RPCs of ControlService. */
export function controlHandlers(
  controls: ControlService,
  versions: ControlVersions,
  users: ControlUsers,
  clone: ControlClone,
  inspect: ExpressionInspector,
  registry: EvaluatorRegistry,
  furtherProblems?: FurtherProblems,
): HandlersOf<typeof ControlServiceDesc> {
  const schemas = createControlSchemas(registry);
  return {
    cloneAndBindControl: handler(schemas.cloneAndBindControl, (input, context) =>
      clone.cloneAndBind(context, input),
    ),
    inspectExpression: handler(schemas.inspectExpression, (input, context) => inspect(context, input)),
    createControl: handler(
      schemas.createControl,
      ({ name, data, strict }, context) => controls.create(context, name, data, strict),
      furtherProblems,
    ),
    listControls: handler(schemas.listControls, (input, context) =>
      controls.list(
        context,
        {
          cursor: input.cursor,
          limit: input.limit,
          nameContains: input.name || null,
          enabled: input.enabled ?? null,
          templateBacked: input.template_backed ?? null,
          cloned: input.cloned ?? null,
          stepType: input.step_type ?? null,
          stage: filterWord(context, 'stage', STAGES, input.stage, input.stage_filter),
          execution: filterWord(context, 'execution', EXECUTIONS, input.execution, input.execution_filter),
          tag: input.tag ?? null,
          hasAgents: input.has_agents ?? null,
          decisions: input.decisions,
          agentName: input.agent_name ? readAgentName(input.agent_name, 'agent_name') : null,
          stepName: input.step_name || null,
          orderBy: input.order_by ?? 'newest',
          reverse: input.reverse ?? false,
        },
        input.include_attachments === true
          ? { targetType: input.attachment_target_type ?? null, targetId: input.attachment_target_id ?? null }
          : null,
      ),
    ),
    getControlSchema: handler(z.object({}), () => ({ schema: controlJsonSchema })),
    validateControl: handler(
      schemas.validateControl,
      ({ data, strict, control_id: id }, context) => controls.validate(context, data, strict, id),
      furtherProblems,
    ),
    getControl: handler(schemas.getControl, (input, context) => controls.get(context, input.control_id)),
    updateControl: handler(schemas.updateControl, (input, context) => {
      const { control_id: id, name, enabled, strict, if_version: ifVersion } = input;
      return controls.update(context, id, withoutUndefined({ name, enabled }), { strict, ifVersion });
    }),
    deleteControl: handler(schemas.deleteControl, (input, context) =>
      controls.remove(context, input.control_id, input.force, input.if_version),
    ),
    listControlAgents: handler(schemas.listControlAgents, (input, context) =>
      users.agents(context, input.control_id, input),
    ),
    listControlPolicies: handler(schemas.listControlPolicies, (input, context) =>
      users.policies(context, input.control_id, input),
    ),
    listControlVersions: handler(schemas.listControlVersions, (input, context) =>
      versions.list(context, input.control_id, input),
    ),
    getControlVersion: handler(schemas.getControlVersion, (input, context) =>
      versions.get(context, input.control_id, input.version_num),
    ),
    restoreControlVersion: handler(schemas.restoreControlVersion, (input, context) =>
      versions.restore(context, input.control_id, input.version_num, input.if_version),
    ),
    getControlData: handler(schemas.getControlData, (input, context) =>
      controls.getData(context, input.control_id),
    ),
    setControlData: handler(
      schemas.setControlData,
      ({ control_id: id, data, strict, if_version: ifVersion }, context) =>
        controls.setData(context, id, data, { strict, ifVersion }),
      furtherProblems,
    ),
  };
}
