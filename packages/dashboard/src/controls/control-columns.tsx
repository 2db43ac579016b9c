import { Execution } from '@gen/enforcement/v1/control_pb.js';
import type { ControlSummary } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { stepsText } from '../control-parts/scope-text.js';
import { signOfDecision } from '../control-parts/sign.js';
import { MinuteText } from '../ui/minute-text.js';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';

const MAX_NAME = 40;
const MAX_STEPS = 36;
const MAX_AUTHOR = 20;

/** What lists show of a control. Names of orders are those of the address, see `control-order.ts`. */
export const CONTROL_COLUMNS: Columns<ControlSummary> = [
  {
    head: 'Control',
    sort: { by: 'name', first: 'ascending' },
    cell: ({ id, name, templateBacked, templateRendered }) => (
      <>
        <NameLink href={`/controls/${id}`} name={name} max={MAX_NAME} />
        {templateBacked && (
          <Link className="tag mark" href={`/controls/${id}/template`}>
            {templateRendered === false ? 'draft' : 'template'}
          </Link>
        )}
      </>
    ),
  },
  {
    head: 'Decision',
    isWhole: true,
    cell: ({ action }) =>
      action === undefined ? (
        <span className="muted">not set</span>
      ) : (
        <DecisionBadge sign={signOfDecision(action.decision)} />
      ),
  },
  {
    head: 'State',
    isWhole: true,
    cell: ({ enabled, execution }) => (
      <>
        {enabled ? 'on' : <span className="muted">off</span>}
        {execution === Execution.SDK && <span className="muted"> in clients</span>}
      </>
    ),
  },
  {
    head: 'Agents',
    className: 'number',
    isWhole: true,
    sort: { by: 'agents', first: 'descending' },
    cell: ({ id, usedByAgentsCount }) => (
      <Link href={`/controls/${id}?tab=usage`} aria-label={numberOf(usedByAgentsCount, 'agent')}>
        {usedByAgentsCount.toLocaleString()}
      </Link>
    ),
  },
  { head: 'Steps', cell: (control) => <UserText text={stepsText(control)} max={MAX_STEPS} /> },
  { head: 'Last match', cell: ({ lastMatchedAt }) => <LastTime time={lastMatchedAt} /> },
  {
    head: 'Last denial',
    sort: { by: 'last_denied', first: 'descending' },
    cell: ({ lastDeniedAt }) => <LastTime time={lastDeniedAt} />,
  },
  {
    head: 'Last change',
    sort: { by: 'updated', first: 'descending' },
    cell: ({ updatedAt, updatedBy }) => (
      <>
        <TimeText time={updatedAt} isShort />
        {updatedBy !== undefined && (
          <span className="muted">
            {' '}
            by <UserText text={updatedBy} max={MAX_AUTHOR} />
          </span>
        )}
      </>
    ),
  },
  { head: 'Tags', cell: ({ tags }) => tags.map((tag) => <TagLink key={tag} tag={tag} />) },
];

/** The minute in which something happened last, if it did. */
function LastTime({ time }: { readonly time: string | undefined }) {
  return time === undefined ? <span className="muted">–</span> : <MinuteText time={time} isShort />;
}

/** A tag, which leads to the controls with it. */
export function TagLink({ tag }: { readonly tag: string }) {
  return (
    <Link className="tag" href={`/controls?tag=${encodeURIComponent(tag)}`}>
      <UserText text={tag} max={30} />
    </Link>
  );
}
