import { useQuery } from '@connectrpc/connect-query';
import { ControlService } from '@gen/enforcement/v1/control_service_pb.js';
import { keepPreviousData } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { useDebounced } from '../ui/browser/use-debounced.js';
import { TextField } from '../ui/fields/fields.js';
import { QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';

const SHOWN = 12;

/** Controls whose template another control can be made from. */
export function StoredTemplates() {
  const [typed, setTyped] = useState('');
  const name = useDebounced(typed).trim();
  const query = useQuery(
    ControlService.method.listControls,
    { limit: SHOWN, templateBacked: true, ...(name === '' ? {} : { name }) },
    { placeholderData: keepPreviousData },
  );
  return (
    <section aria-label="Stored templates">
      <h2>From the template of a stored control</h2>
      <div className="filters">
        <TextField label="Find a control" type="search" value={typed} onChange={setTyped} />
      </div>
      <QueryState query={query} what="templates">
        {({ controls, pagination }) =>
          controls.length === 0 ? (
            <p className="muted">
              {name === '' ? 'No control is made from a template yet.' : 'None has this name.'}
            </p>
          ) : (
            <>
              <ul className="start-cards">
                {controls.map((control) => (
                  <li key={control.id} className="card">
                    <Link href={`/templates/new?from=${control.id}`}>
                      <UserText text={control.name} />
                    </Link>
                    {control.description !== undefined && (
                      <p className="muted">
                        <UserText text={control.description} max={120} />
                      </p>
                    )}
                  </li>
                ))}
              </ul>
              {(pagination?.total ?? 0) > controls.length && (
                <p className="muted">
                  {controls.length} of {(pagination?.total ?? 0).toLocaleString()}: search for others.
                </p>
              )}
            </>
          )
        }
      </QueryState>
    </section>
  );
}
