import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { createClient } from '@connectrpc/connect';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { transport } from '../data/transport.js';
import type { ExpressionPlace } from './expression-place.js';

const controls = createClient(ControlService, transport);
/** Kinds of proposals, as the library has icons for them. */
const KINDS: Readonly<Record<string, string>> = {
  variable: 'variable',
  member: 'property',
  function: 'function',
  macro: 'function',
  keyword: 'keyword',
};
/** Characters before the cursor that are looked at. */
const MAX_WORD = 100;
/** A name, or a member of something, that someone has begun to write; no number. */
const BEGUN = /(?:^|[^A-Za-z0-9_.])[A-Za-z_][A-Za-z0-9_]*$|[A-Za-z_)\]][A-Za-z0-9_]*\.[A-Za-z0-9_]*$/;
/** What goes on being written while the same proposals count. */
const WORD = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Proposals of the server for a cursor. None if it fails: the expression can be written without them. */
export async function completionsFor(
  { state, pos, explicit, aborted }: CompletionContext,
  { scope, selectorPath }: ExpressionPlace,
): Promise<CompletionResult | null> {
  const text = state.doc.toString();
  if (!explicit && !BEGUN.test(text.slice(Math.max(0, pos - MAX_WORD), pos))) return null;
  try {
    const { completions, replaceFrom } = await controls.inspectExpression({
      expression: text,
      cursor: pos,
      ...(scope === undefined ? {} : { scope }),
      ...(selectorPath === '' ? {} : { selectorPath }),
    });
    if (aborted || completions.length === 0) return null;
    return {
      from: Math.min(replaceFrom, pos),
      options: completions.map(({ label, kind, detail, documentation }, index): Completion => {
        return {
          label,
          detail,
          type: KINDS[kind] ?? 'text',
          // The server has them in order.
          boost: -Math.min(index, 99),
          ...(documentation === '' ? {} : { info: documentation }),
        };
      }),
      validFor: WORD,
    };
  } catch {
    return null;
  }
}
