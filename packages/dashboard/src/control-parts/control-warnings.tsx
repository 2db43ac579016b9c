import { useQuery } from '@connectrpc/connect-query';
import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';

/** What the server has to say about a stored definition, as long as it is so. */
export function ControlWarnings({ data }: { readonly data: ControlDefinition }) {
  const { template, templateValues } = data;
  // The rest of a definition from a template follows from the template.
  const content = template === undefined ? data : { template, ...(templateValues ? { templateValues } : {}) };
  const { data: checked } = useQuery(
    ControlService.method.validateControl,
    { data: content },
    { retry: false },
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
