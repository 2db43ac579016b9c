import { IconX } from '@tabler/icons-react';
import type { Warning } from '../../../../gen/proto/enforcement/v1/control_pb.js';

interface ReplyWarningsProps {
  readonly warnings: readonly Warning[];
  readonly onDismiss: () => void;
}

/** The warnings of the reply to a change, until they are dismissed. */
export function ReplyWarnings({ warnings, onDismiss }: ReplyWarningsProps) {
  if (warnings.length === 0) return null;
  return (
    <div className="notice reply-warnings" role="status">
      <ul>
        {warnings.map(({ code, field, message }) => (
          <li key={`${code} ${field}`}>{message}</li>
        ))}
      </ul>
      <button type="button" className="icon" aria-label="Dismiss the warnings" onClick={onDismiss}>
        <IconX size={16} aria-hidden="true" />
      </button>
    </div>
  );
}
