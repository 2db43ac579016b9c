import { isObject, type JsonObject } from '../../../packages/exact-json/src/index.js';
import type { FurtherProblems, HandlerCall } from '../../contract/call/handler.js';
import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import { boolean } from '../../contract/input/fields.js';
import { listed, mistakeItems } from '../../contract/warnings/warning.js';
import type { EvaluatorRegistry } from '../../kernel/core/evaluator.js';
import type { DbClient } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import { readableLeaves } from './definition/readable-leaves.js';
import { isGiven } from './definition-schema.js';
import { readableWarnings } from './definition-warnings/readable-warnings.js';
import type { ReferenceProblems } from './reference-problems.js';

export interface FurtherProblemsOptions {
  readonly client: DbClient;
  readonly registry: EvaluatorRegistry;
  readonly referenceProblems: ReferenceProblems;
  /** See `ReviewOptions.strict`. */
  readonly strict: boolean;
}

/**
 * Problems of a definition that is invalid elsewhere: references to registrations of agents, and in strict mode
 * members that are not read and other mistakes in what can be read. Requests with a template have none: their
 * definition does not exist before the template is valid.
 */
export function createFurtherProblems(options: FurtherProblemsOptions): FurtherProblems {
  const { client, registry, referenceProblems, strict } = options;

  async function references(data: JsonObject, context: HandlerCall): Promise<ErrorItem[]> {
    const { selector = null, evaluator = null } = data;
    const [condition, path] = isGiven(data, 'condition')
      ? [data.condition, 'data.condition']
      : [{ selector, evaluator }, 'data'];
    try {
      const { agents } = context.principal;
      const leaves = readableLeaves(condition, path);
      const problems = await referenceProblems(scopeOf(context, client), leaves, agents);
      return problems.map(({ item }) => item);
    } catch (error) {
      // The request is refused in any case; a fault of the database must not hide why.
      if (error instanceof ServiceError) return [];
      throw error;
    }
  }

  return async (input, context) => {
    const { data } = input;
    if (!isObject(data) || isGiven(data, 'template')) return [];
    const isStrict = strict || boolean().safeParse(input.strict).data === true;
    const missing = await references(data, context);
    const mistakes = isStrict
      ? mistakeItems(listed(context.ignoredParts(), readableWarnings(data, registry)), 'Control', missing)
      : [];
    return [...missing, ...mistakes];
  };
}
