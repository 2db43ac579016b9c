import { Link } from 'wouter';
import { UserText } from '../ui/user-text.js';
import './agents.css';

interface LabelsProps {
  readonly labels: Readonly<Record<string, string>>;
  /** Most labels that are shown. */
  readonly max?: number;
}

/** The labels of an agent, each of which leads to all agents that have it. */
export function Labels({ labels, max = Number.POSITIVE_INFINITY }: LabelsProps) {
  const names = Object.keys(labels).sort();
  const rest = names.slice(max);
  return (
    <span className="labels">
      {names.slice(0, max).map((name) => {
        const label = `${name}=${labels[name]}`;
        return (
          <Link key={name} className="tag" href={`/agents?label=${encodeURIComponent(label)}`}>
            <UserText text={label} max={36} />
          </Link>
        );
      })}
      {rest.length > 0 && (
        <span className="muted" title={rest.map((name) => `${name}=${labels[name]}`).join(', ')}>
          +{rest.length}
        </span>
      )}
    </span>
  );
}
