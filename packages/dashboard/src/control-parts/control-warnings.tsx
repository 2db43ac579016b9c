import { useQuery } from '@connectrpc/connect-query';
import type { ControlDefinition } from '@gen/enforcement/v1/control_pb.js';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { WarningWord } from '../ui/warnings.js';

interface ControlWarningsProps {
  readonly controlId: number;
  readonly data: ControlDefinition;
}

/** What the server has to say about a stored definition and its place among other controls, as long as it is so. */
export function ControlWarnings({ controlId, data }: ControlWarningsProps) {
  const { template, templateValues } = data;
  // The rest of a definition from a template follows from the template.
  const content = template === undefined ? data : { template, ...(templateValues ? { templateValues } : {}) };
  const { data: checked } = useQuery(
    ControlService.method.validateControl,
    { data: content, controlId },
    { retry: false },
  );
  const warnings = checked?.warnings ?? [];
  if (warnings.length === 0) return null;
  return (
    <section className="notice control-warnings" aria-label="Warnings">
      <ul className="plain">
        {warnings.map(({ field, code, message }) => (
          <li key={`${field} ${code} ${message}`} dir="auto">
            <WarningWord code={code} />
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
