import { z } from 'zod';
import type { EvaluatorService } from '../../../gen/proto/enforcement/v1/evaluator_service_pb.js';
import { type HandlersOf, handler } from '../../contract/call/handler.js';
import type { Evaluator, EvaluatorRegistry } from '../core/evaluator.js';
import { installedEvaluators } from './missing-evaluators.js';

/** The RPCs of EvaluatorService. */
export function evaluatorHandlers(registry: EvaluatorRegistry): HandlersOf<typeof EvaluatorService> {
  const installed = [...installedEvaluators(registry)];
  const evaluators = Object.fromEntries(installed.map(([name, one]) => [name, describe(one)]));
  return { listEvaluators: handler(z.object({}), () => ({ evaluators })) };
}

function describe(evaluator: Evaluator) {
  return {
    name: evaluator.name,
    version: evaluator.version,
    description: evaluator.description,
    requires_api_key: evaluator.requiresApiKey,
    timeout_ms: evaluator.timeoutMs,
    config_schema: evaluator.configJsonSchema,
  };
}
