import { fromJson } from '@bufbuild/protobuf';
import { EvaluatorService, ListEvaluatorsResponseSchema } from '@gen/enforcement/v1/evaluator_service_pb.js';
import examples from '../../../../gen/openapi/reply-examples.json' with { type: 'json' };
import type { Backend } from './render-page.js';

/** The evaluators of a service, with the schemas of their configurations, as they were recorded. */
export const hasEvaluators: Backend = ({ rpc }) => {
  const recorded = fromJson(ListEvaluatorsResponseSchema, { evaluators: examples.listEvaluators });
  rpc(EvaluatorService.method.listEvaluators, () => recorded);
};
