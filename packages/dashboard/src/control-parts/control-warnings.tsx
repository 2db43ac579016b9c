import { useQuery } from '@connectrpc/connect-query';
import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { useIsAdmin } from '../session/session-context.js';

/** What the server has to say about a stored definition, as long as it is so. Nothing for regular keys. */
export function ControlWarnings({ data }: { readonly data: ControlDefinition }) {
  const isAdmin = useIsAdmin();
  const { data: checked } = useQuery(
    ControlService.method.validateControl,
    { data },
    { enabled: isAdmin, retry: false },
  );
  const warnings = checked?.warnings ?? [];
  if (warnings.length === 0) return null;
  return (
    <section className="notice" aria-label="Warnings">
      <ul className="plain">
        {warnings.map(({ field, code, message }) => (
          <li key={`${field} ${code} ${message}`} dir="auto">
            {field !== '' && (
              <>
                <code>{field.replace(/^data\./, '')}</code>:{' '}
              </>
            )}
            {message}
          </li>
        ))}
      </ul>
    </section>
  );
}
