import { useQuery } from '@connectrpc/connect-query';
import { AgentService } from '@gen/enforcement/v1/agent_service_pb.js';
import { IconX } from '@tabler/icons-react';
import { type FormEvent, useState } from 'react';
import { SuggestField } from '../../ui/fields/fields.js';
import { numberOf } from '../../ui/numbers.js';
import { UserText } from '../../ui/user-text.js';

const MAX_LABELS = 10;

interface LabelFieldProps {
  readonly labels: readonly string[];
  readonly onChange: (labels: readonly string[]) => void;
}

/** Labels that can be removed, and a field for another one, which suggests those that agents have. */
export function LabelField({ labels, onChange }: LabelFieldProps) {
  const known = useQuery(AgentService.method.listAgentLabels, {});
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const suggestions = (known.data?.labels ?? []).flatMap(({ name, values }) =>
    values.map(({ value, agentCount }) => [`${name}=${value}`, numberOf(agentCount, 'agent')] as const),
  );
  const add = (event: FormEvent): void => {
    event.preventDefault();
    const label = typed.trim();
    const found = labelProblem(label, labels);
    setProblem(found);
    if (found !== null) return;
    onChange([...labels, label]);
    setTyped('');
  };
  return (
    <form className="filters" onSubmit={add} aria-label="Labels">
      {labels.map((label) => (
        <span key={label} className="tag chosen">
          <UserText text={label} />
          <button
            type="button"
            className="icon"
            aria-label={`Remove the label ${label}`}
            onClick={() => onChange(labels.filter((one) => one !== label))}
          >
            <IconX size={14} />
          </button>
        </span>
      ))}
      <SuggestField
        label="Label, as name=value"
        value={typed}
        suggestions={suggestions}
        onChange={setTyped}
      />
      <button type="submit" disabled={typed.trim() === '' || labels.length >= MAX_LABELS}>
        Add label
      </button>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}

/** Why a text is no further label; null if it is one. */
export function labelProblem(label: string, labels: readonly string[]): string | null {
  if (!/^[^=]+=./su.test(label)) return 'A label is a name and a value: name=value.';
  const [name] = label.split('=');
  if (labels.includes(label)) return 'The label is there already.';
  if (labels.some((other) => other.split('=')[0] === name)) {
    return `An agent has one value of ${name}: with two of them, no agent would match.`;
  }
  return labels.length >= MAX_LABELS ? `A policy has at most ${MAX_LABELS} labels.` : null;
}
