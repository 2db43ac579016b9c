import { GrpcCode } from '../../contract/errors/grpc-code.js';
import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';

/** The agent has no evaluator of the requested name. */
export function evaluatorNotFound(agentName: string, evaluatorName: string): ServiceError {
  return new ServiceError('EVALUATOR_NOT_FOUND', {
    detail: `Evaluator "${evaluatorName}" was not found: agent "${agentName}" has not registered it.`,
    hint: 'Register the evaluator with initAgent first.',
    name: evaluatorName,
    kind: 'Evaluator',
    httpStatus: 404,
    grpcCode: GrpcCode.NotFound,
  });
}

/** A definition names an evaluator that its agent lacks. `field` is the path of the name. */
export function evaluatorNotRegistered(
  agentName: string,
  evaluatorName: string,
  field: string,
  name: string,
): ServiceError {
  const message = `evaluator "${evaluatorName}" is not registered by agent "${agentName}"`;
  return new ServiceError('EVALUATOR_NOT_FOUND', {
    detail: `The definition cannot be used: ${message}.`,
    hint: 'Register the evaluator with initAgent first.',
    name: evaluatorName,
    kind: 'Evaluator',
    items: [{ resource: 'Control', field, code: 'evaluator_not_found', message, value: name }],
  });
}

/** A configuration does not satisfy the schema of its evaluator. `field` is the path of the configuration. */
export function invalidConfig(name: string, field: string, problem: string): ServiceError {
  return new ServiceError('INVALID_CONFIG', {
    detail: `The configuration of evaluator "${name}" is refused: ${problem}.`,
    hint: 'The schema is shown by GET /agents/{agent_name}/evaluators/{evaluator_name}.',
    name,
    kind: 'Evaluator',
    items: [{ resource: 'Control', field, code: 'schema_validation_error', message: problem, value: {} }],
  });
}

/** A definition names evaluators of more agents than the lookup limit. */
export function tooManyAgents(field: string, name: string, limit: number): ServiceError {
  const message = `a definition may name evaluators of at most ${limit} agents`;
  return new ServiceError('VALIDATION_ERROR', {
    detail: `The definition cannot be used: ${message}.`,
    hint: 'No agent can run a control with an evaluator of another agent.',
    items: [{ resource: 'Control', field, code: 'value_error', message, value: name }],
  });
}

/** Evaluators to be removed are named by enabled controls of the agent; one item for each pair. */
export function evaluatorInUse(
  agentName: string,
  uses: readonly { readonly controlName: string; readonly evaluatorName: string }[],
): ServiceError {
  return new ServiceError('EVALUATOR_IN_USE', {
    detail: `Cannot remove evaluators of agent "${agentName}" that its enabled controls name.`,
    hint: 'Unlink, disable or change these controls first.',
    name: agentName,
    kind: 'Agent',
    items: uses.map(({ controlName, evaluatorName }): ErrorItem => {
      const message = `control "${controlName}" names evaluator "${evaluatorName}"`;
      return {
        resource: 'Control',
        field: 'evaluator.name',
        code: 'in_use',
        message,
        value: `${agentName}:${evaluatorName}`,
      };
    }),
  });
}
