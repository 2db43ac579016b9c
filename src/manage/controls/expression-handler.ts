import { completionsAt, typeName } from '../../../packages/cel/src/index.js';
import type { CallContext } from '../../contract/call/handler.js';
import type { DbClient } from '../../storage/database/database.js';
import { scopeOf } from '../../storage/database/scoped.js';
import type { Scope } from './definition/definition.js';
import { judgeExpression, type RegisteredTypesOf } from './expression-inspection.js';

/** What InspectExpression is asked. */
export interface InspectedExpression {
  readonly expression: string;
  readonly cursor?: number | undefined;
  readonly scope?: Scope | undefined;
  readonly selector_path?: string | undefined;
}

/** Most proposals of a reply. */
const MAX_COMPLETIONS = 100;

/** Inspects expressions as they are typed, with the types of the registered steps in a scope. */
export function createExpressionInspector(client: DbClient, typesOf: RegisteredTypesOf) {
  return async (context: CallContext, asked: InspectedExpression) => {
    const { expression, cursor, scope = {}, selector_path: path = '*' } = asked;
    // Keys that are limited to agents must not learn what others have registered.
    const isLimited = context.principal.agents !== null;
    const types = isLimited ? null : await typesOf(scopeOf(context, client), scope);
    const { problems, resultType, reads, variables } = judgeExpression(expression, path, types);
    const at = cursor === undefined ? null : Math.min(Math.max(cursor, 0), expression.length);
    const proposed = at === null ? null : completionsAt(expression, at, variables);
    return {
      problems: problems.map(({ problem: { code, start, end, message, suggestion }, isError }) => ({
        code,
        start,
        end,
        message,
        suggestion,
        error: isError,
      })),
      result_type: resultType === null ? null : typeName(resultType),
      reads,
      completions: proposed?.items.slice(0, MAX_COMPLETIONS) ?? [],
      replace_from: proposed?.from ?? 0,
      schemas_known: types?.schemasKnown ?? false,
    };
  };
}

export type ExpressionInspector = ReturnType<typeof createExpressionInspector>;
