import type { Warning } from '@gen/enforcement/v1/control_pb.js';
import { useState } from 'react';

/** Warnings of a reply, which stay until they are dismissed. */
export function Warnings({ warnings }: { readonly warnings: readonly Warning[] }) {
  const [dismissed, setDismissed] = useState<readonly Warning[]>();
  if (warnings.length === 0 || dismissed === warnings) return null;
  return (
    <div className="notice" role="status">
      <ul className="plain">
        {warnings.map(({ field, code, message }) => (
          <li key={`${field} ${code}`} dir="auto">
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
