import { Execution } from '@gen/enforcement/v1/control_pb.js';
import type { ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { DecisionBadge, signOfDecision } from '../control-parts/decision-badge.js';
import { stageText } from '../control-parts/scope-text.js';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import type { Columns } from '../ui/table/columns.js';
import { UserText } from '../ui/user-text.js';

/** What lists show of a control. */
export const CONTROL_COLUMNS: Columns<ControlSummary> = [
  {
    head: 'Control',
    cell: ({ id, name, templateBacked, templateRendered }) => (
      <>
        <NameLink href={`/controls/${id}`} name={name} />
        {templateBacked && (
          <Link className="tag mark" href={`/controls/${id}/template`}>
            {templateRendered === false ? 'draft of a template' : 'template'}
          </Link>
        )}
      </>
    ),
  },
  {
    head: 'Decision',
    cell: ({ action }) =>
      action === undefined ? (
        <span className="muted">not set</span>
      ) : (
        <DecisionBadge sign={signOfDecision(action.decision)} />
      ),
  },
  { head: 'State', cell: ({ enabled }) => (enabled ? 'on' : <span className="muted">off</span>) },
  { head: 'Runs in', cell: ({ execution }) => (execution === Execution.SDK ? 'client' : 'server') },
  {
    head: 'Steps',
    cell: ({ stages, stepTypes }) => (
      <UserText text={[...stages.map(stageText), ...stepTypes].join(' · ') || 'every step'} />
    ),
  },
  { head: 'Tags', cell: ({ tags }) => tags.map((tag) => <TagLink key={tag} tag={tag} />) },
  {
    head: 'Used by',
    cell: ({ id, usedByAgentsCount }) => (
      <Link href={`/controls/${id}?tab=usage`}>{numberOf(usedByAgentsCount, 'agent')}</Link>
    ),
  },
  {
    head: 'Version',
    cell: ({ id, version }) => <Link href={`/controls/${id}?tab=versions`}>{String(version)}</Link>,
  },
];

/** A tag, which leads to the controls with it. */
export function TagLink({ tag }: { readonly tag: string }) {
  return (
    <Link className="tag" href={`/controls?tag=${encodeURIComponent(tag)}`}>
      <UserText text={tag} max={30} />
    </Link>
  );
}
