import type { CallContext } from '../../contract/call/handler.js';
import { invalidRequest } from '../../contract/input/parse-input.js';

/**
 * The word by which a list is filtered, null without a filter: from a member of free text, or from the sibling with an
 * enum. Throws a VALIDATION_ERROR for an unknown word, and for two different ones. A lenient caller is only warned of
 * an unknown word, which selects what it always has.
 */
export function filterWord(
  context: Pick<CallContext, 'isLenient' | 'warn'>,
  member: 'stage' | 'execution',
  words: readonly string[],
  text: string | undefined,
  sibling: string | undefined,
): string | null {
  if (text === undefined) return sibling ?? null;
  if (sibling !== undefined && sibling !== text) {
    const message = `differs from ${member}; send one of them`;
    throw invalidRequest([{ resource: 'Request', field: `${member}_filter`, code: 'value_error', message }]);
  }
  if (words.includes(text)) return text;
  const message = `must be one of: ${words.join(', ')}`;
  if (context.isLenient) {
    context.warn([{ code: 'unknown_value', field: member, message }]);
    return text;
  }
  const hint = `${message}; or use ${member}_filter`;
  throw invalidRequest([
    { resource: 'Request', field: member, code: 'literal_error', message: hint, value: text },
  ]);
}
