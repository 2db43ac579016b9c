import { isObject, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import { quoted } from '../../../contract/errors/quoted.js';
import { didYouMean } from '../../../contract/warnings/suggestion.js';
import type { Warning } from '../../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import type { Execution } from '../../../kernel/core/types.js';
import { configPath, undeclaredMembers } from '../../../kernel/evaluators/config/config-members.js';
import { readAgentScopedName } from '../definition/agent-scoped-name.js';
import type { PlacedLeaf, Scope } from '../definition/definition.js';
import { isBeforeSteps } from './selector-warnings.js';
import { textWarnings } from './text-warnings.js';

/** Warnings about the evaluator of a leaf and its configuration. */
export function* evaluatorWarnings(
  { leaf, path, positive }: PlacedLeaf,
  { execution, scope }: { readonly execution: Execution; readonly scope?: Scope | undefined },
  registry: EvaluatorRegistry,
): Generator<Warning, void> {
  const { name, config } = leaf.evaluator;
  const configField = `${path}.evaluator.config`;
  const evaluator = registry.get(name);
  if (evaluator === undefined) {
    yield* unknownEvaluator(name, `${path}.evaluator.name`, execution, registry);
    return;
  }
  if (evaluator.unavailable !== undefined && execution === 'server') {
    const message = `${evaluator.unavailable}: until it can, this check is an error, which fails closed`;
    yield { code: 'unconfigured_evaluator', field: `${path}.evaluator.name`, message };
  }
  yield* textWarnings(config, configField, normalisationAdvice(evaluator.configJsonSchema));
  for (const found of undeclaredMembers(config, evaluator.configJsonSchema)) {
    yield { code: found.code, field: configPath(configField, found.path), message: found.message };
  }
  const use = { selectorPath: leaf.selector.path ?? '*', positive, beforeSteps: isBeforeSteps(scope) };
  for (const found of evaluator.warningsFor?.(config, use) ?? []) {
    yield { code: found.code, field: configPath(configField, found.path), message: found.message };
  }
}

/** Advice for texts with several forms, where an evaluator can normalise them. */
function normalisationAdvice({ properties }: JsonObject): string {
  const isOption = isObject(properties) && Object.hasOwn(properties, 'normalize');
  return isOption ? '; normalize "nfkc" makes such forms of the data one' : '';
}

function* unknownEvaluator(
  name: string,
  field: string,
  execution: Execution,
  registry: EvaluatorRegistry,
): Generator<Warning, void> {
  const scoped = readAgentScopedName(name);
  if (scoped !== undefined) {
    // It exists, or the definition would not have been accepted; but in the client of the agent.
    if (execution === 'sdk') return;
    const message = `${quoted(name)} is an evaluator of the agent ${quoted(scoped.agentName)}, which only its client has: the service cannot run it, and this check is an error, which fails closed. Use execution "sdk".`;
    yield { code: 'unconfigured_evaluator', field, message };
    return;
  }
  const lacks = `The service has no evaluator ${quoted(name)}${didYouMean(name, registry.keys())}`;
  if (execution === 'sdk') {
    const message = `${lacks}${lacks.endsWith('?') ? '' : '.'} Clients evaluate this control; its configuration is not checked.`;
    yield { code: 'client_evaluator', field, message };
    return;
  }
  const message = `${lacks}${lacks.endsWith('?') ? '' : '.'} Until it has, this check is an error, which fails closed.`;
  yield { code: 'unknown_evaluator', field, message };
}
