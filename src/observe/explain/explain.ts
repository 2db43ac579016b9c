import type { Handler, MessageReader } from '../../contract/call/handler.js';
import { evaluatorReferenceProblems } from '../../manage/agents/agent-evaluator-references.js';
import { explainHandler } from './explain-handler.js';
import { createExplainService, type ExplainServiceOptions, type HeldExplain } from './explain-service.js';

/** Explains decisions of controls: the RPC Explain of EvaluationService. */
export function createExplain(
  options: Omit<ExplainServiceOptions, 'referenceProblems'>,
  reader: MessageReader<HeldExplain>,
): { readonly explain: Handler } {
  const service = createExplainService({ ...options, referenceProblems: evaluatorReferenceProblems });
  return { explain: explainHandler(service, options.registry, reader) };
}
