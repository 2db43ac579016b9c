import { timestampDate } from '@bufbuild/protobuf/wkt';
import { type AgentCoverage, CoverageService } from '@gen/enforcement/v1/coverage_service_pb.js';
import { type FormEvent, useId, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { Dialog } from '../ui/dialog.js';
import { SelectField } from '../ui/fields/fields.js';
import { spanText } from '../ui/span-text.js';
import { Problem } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { intervalChoices } from './coverage-text.js';

interface OfAgent {
  readonly agent: AgentCoverage;
}

/** What is expected of an agent, and a button to change it for callers that may. */
export function Expected({ agent }: OfAgent) {
  const mayChange = useMay('agents.write');
  const [isOpen, setOpen] = useState(false);
  const { agentName, expectations } = agent;
  return (
    <div className="coverage-cell">
      {expectations.length === 0 && <span className="muted">nothing</span>}
      <ul className="coverage-list">
        {expectations.map(({ point = '', intervalSeconds, overdueSince }) => (
          <li key={point}>
            every {spanText(intervalSeconds)} {point !== '' && <UserText text={`at ${point}`} max={40} />}{' '}
            {overdueSince !== undefined && (
              <span className="badge deny">
                overdue since <TimeText time={timestampDate(overdueSince).toISOString()} isShort />
              </span>
            )}
          </li>
        ))}
      </ul>
      {mayChange && (
        <button type="button" aria-label={`Expect of ${agentName}`} onClick={() => setOpen(true)}>
          Expect…
        </button>
      )}
      {isOpen && <ExpectDialog agent={agent} onClose={() => setOpen(false)} />}
    </div>
  );
}

/** Asks how often the agent is expected at any point, and at each point where it was seen or is expected. */
function ExpectDialog({ agent, onClose }: OfAgent & { readonly onClose: () => void }) {
  const { agentName, points, expectations } = agent;
  const form = useId();
  const known = new Map(expectations.map(({ point = '', intervalSeconds }) => [point, intervalSeconds]));
  const all = [...new Set(['', ...points.map(({ point }) => point), ...known.keys()])];
  const [chosen, setChosen] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(all.map((point) => [point, String(known.get(point) ?? '')])),
  );
  const change = useChange(CoverageService.method.setExpectations, onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = all.filter((point) => chosen[point] !== '');
    change.mutate({
      agentName,
      expectations: wanted.map((point) => ({
        intervalSeconds: Number(chosen[point]),
        ...(point === '' ? {} : { point }),
      })),
    });
  };
  return (
    <Dialog
      title={`What is expected of ${agentName}?`}
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" form={form} className="primary" disabled={change.isPending}>
            Save
          </button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        <p>
          An agent of which no step is evaluated for longer than this is overdue: the problems of the service
          tell of it, and so do notifications.
        </p>
        {all.map((point) => (
          <SelectField
            key={point}
            label={point === '' ? 'At any point, every' : `At ${point}, every`}
            options={intervalChoices(known.get(point))}
            value={chosen[point] ?? ''}
            onChange={(value) => setChosen({ ...chosen, [point]: value })}
          />
        ))}
        <Problem error={change.error} />
      </form>
    </Dialog>
  );
}
