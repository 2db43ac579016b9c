import { type ErrorItem, ServiceError } from '../../contract/errors/service-error.js';
import type { Warning } from '../../contract/warnings/warning.js';

/** Members that belong to the definition of a control. */
const DEFINITION_MEMBERS = new Set([
  ...['data', 'template', 'template_values', 'condition', 'scope', 'action', 'execution', 'description'],
  ...['tags', 'selector', 'evaluator'],
]);

/**
 * Members of a PATCH of a control without effect, with the remedy. Throws a VALIDATION_ERROR when there are
 * no others: such a request would succeed without changing anything.
 */
export function patchWarnings(
  ignored: readonly Warning[],
  controlId: number,
  change: { readonly name?: string; readonly enabled?: boolean },
): Warning[] {
  const warnings = ignored.map((warning) => {
    const [member = ''] = warning.field.split(/[.[]/);
    if (warning.code !== 'unknown_member' || !DEFINITION_MEMBERS.has(member)) return warning;
    return { ...warning, message: `${member} cannot be patched; use PUT /controls/${controlId}/data` };
  });
  const isEmpty = change.name === undefined && change.enabled === undefined;
  if (isEmpty && warnings.length > 0) throw nothingPatched(warnings, 'name and enabled', 'Control');
  return warnings;
}

/** The error of a PATCH whose members all have no effect. `members`: those that can be patched. */
export function nothingPatched(
  warnings: readonly Warning[],
  members: string,
  kind: 'Control' | 'Agent',
): ServiceError {
  return new ServiceError('VALIDATION_ERROR', {
    detail: 'Request validation failed: the request would change nothing.',
    hint: `PATCH changes ${members}. Each entry of errors names a member and what is wrong with it.`,
    kind,
    items: warnings.map(
      ({ field, message }): ErrorItem => ({ resource: kind, field, code: 'extra_forbidden', message }),
    ),
  });
}
