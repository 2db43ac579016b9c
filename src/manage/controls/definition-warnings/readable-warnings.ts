import { isObject, type JsonObject } from '../../../../packages/exact-json/src/index.js';
import type { Warning } from '../../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../../kernel/core/evaluator.js';
import { configPath, undeclaredMembers } from '../../../kernel/evaluators/config/config-members.js';
import { scopeSchema } from '../definition/definition-members.js';
import { readableLeaves } from '../definition/readable-leaves.js';
import { scopeWarnings } from './definition-warnings.js';
import { evaluatorWarnings } from './evaluator-warnings.js';
import { selectorWarnings } from './selector-warnings.js';

/** The warnings about the valid parts of a definition that is invalid elsewhere, see `definitionWarnings`. */
export function* readableWarnings(data: JsonObject, registry: EvaluatorRegistry): Generator<Warning, void> {
  const scope = isObject(data.scope) ? scopeSchema.safeParse(data.scope).data : undefined;
  if (scope !== undefined) yield* scopeWarnings(scope);
  const execution = data.execution === 'sdk' ? 'sdk' : 'server';
  for (const placed of readableLeaves(data.condition, 'data.condition')) {
    const { leaf, path } = placed;
    yield* selectorWarnings(leaf.selector.path ?? '*', `${path}.selector.path`, scope);
    const evaluator = registry.get(leaf.evaluator.name);
    const { config } = leaf.evaluator;
    if (evaluator === undefined || evaluator.configSchema.safeParse(config).success) {
      yield* evaluatorWarnings(placed, { execution, scope }, registry);
      continue;
    }
    for (const found of undeclaredMembers(config, evaluator.configJsonSchema)) {
      const field = configPath(`${path}.evaluator.config`, found.path);
      yield { code: found.code, field, message: found.message };
    }
  }
}
