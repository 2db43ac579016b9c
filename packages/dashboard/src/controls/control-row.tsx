import { Execution } from '@gen/enforcement/v1/control_pb.js';
import type { ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { DecisionBadge, signOfDecision } from '../control-parts/decision-badge.js';
import { stageText } from '../control-parts/scope-text.js';
import { numberOf } from '../ui/numbers.js';
import { UserText } from '../ui/user-text.js';

export const CONTROL_COLUMNS = [
  'Control',
  'Decision',
  'State',
  'Runs in',
  'Steps',
  'Tags',
  'Used by',
  'Version',
];

interface ControlRowProps {
  readonly control: ControlSummary;
  /** Absent if rows cannot be selected. */
  readonly selection?: { readonly isSelected: boolean; readonly onToggle: () => void } | undefined;
}

export function ControlRow({ control, selection }: ControlRowProps) {
  const { id, name, action, enabled, execution, stages, stepTypes, tags, usedByAgentsCount } = control;
  return (
    <tr className={selection?.isSelected ? 'selected' : undefined}>
      {selection !== undefined && (
        <td className="check-cell">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={selection.isSelected}
            onChange={selection.onToggle}
          />
        </td>
      )}
      <td>
        <Link href={`/controls/${id}`}>
          <UserText text={name} />
        </Link>
        {control.templateBacked && (
          <Link className="tag mark" href={`/controls/${id}/template`}>
            {control.templateRendered === false ? 'draft of a template' : 'template'}
          </Link>
        )}
      </td>
      <td>
        {action === undefined ? (
          <span className="muted">not set</span>
        ) : (
          <DecisionBadge sign={signOfDecision(action.decision)} />
        )}
      </td>
      <td>{enabled ? 'on' : <span className="muted">off</span>}</td>
      <td>{execution === Execution.SDK ? 'client' : 'server'}</td>
      <td>
        <UserText text={[...stages.map(stageText), ...stepTypes].join(' · ') || 'every step'} />
      </td>
      <td>
        {tags.map((tag) => (
          <Link key={tag} className="tag" href={`/controls?tag=${encodeURIComponent(tag)}`}>
            <UserText text={tag} max={30} />
          </Link>
        ))}
      </td>
      <td>
        <Link href={`/controls/${id}?tab=usage`}>{numberOf(usedByAgentsCount, 'agent')}</Link>
      </td>
      <td>
        <Link href={`/controls/${id}?tab=versions`}>{String(control.version)}</Link>
      </td>
    </tr>
  );
}
