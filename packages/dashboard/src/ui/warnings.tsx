import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import { useState } from 'react';

/** What warnings that say most about a control are about, in a word or two. */
const WORDS: Readonly<Record<string, string>> = {
  applied_by_configuration: 'Applied as configuration.',
  always_matches: 'Matches every step.',
  hidden_by_deny: 'Hidden by another control.',
  unconfigured_evaluator: 'Not configured.',
  expression_type: 'Contradicts the registered steps.',
  untyped_expression: 'Not checked against a schema.',
};

/** What a warning is about, before its field and its text. Nothing for those that say it by themselves. */
export function WarningWord({ code }: { readonly code: string }) {
  const word = Object.hasOwn(WORDS, code) ? WORDS[code] : undefined;
  return word === undefined ? null : <strong>{word} </strong>;
}

/** Warnings of a reply, which stay until they are dismissed. */
export function Warnings({ warnings }: { readonly warnings: readonly Warning[] }) {
  const [dismissed, setDismissed] = useState<readonly Warning[]>();
  if (warnings.length === 0 || dismissed === warnings) return null;
  return (
    <div className="notice" role="status">
      <ul className="plain">
        {warnings.map(({ field, code, message }) => (
          <li key={`${field} ${code}`} dir="auto">
            <WarningWord code={code} />
            {field !== '' && (
              <>
                <code>{field}</code>:{' '}
              </>
            )}
            {message}
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => setDismissed(warnings)}>
        Dismiss
      </button>
    </div>
  );
}
