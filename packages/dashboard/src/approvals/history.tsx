import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import { type Approval, ApprovalService } from '@gen/enforcement/v1/approval_service_pb.js';
import { Link } from 'wouter';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { AGENT_COLUMN } from '../references/columns.js';
import { AGENT_MEMBER, CONTROL_MEMBER } from '../references/query-members.js';
import { List } from '../ui/list/list.js';
import { QueryBar } from '../ui/query-bar/query-bar.js';
import { onlyValueOf, type QueryMember, type QueryTerm } from '../ui/query-bar/query-member.js';
import { useQueryTerms } from '../ui/query-bar/use-query-terms.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { decisionText, questionText, STATES, stepText } from './approval-text.js';
import { StateBadge } from './state-badge.js';

const MEMBERS: readonly QueryMember[] = [
  { name: 'state', hint: 'what became of it', values: STATES.map(([value, , hint]) => ({ value, hint })) },
  AGENT_MEMBER,
  { ...CONTROL_MEMBER, isMultiple: false },
  { name: 'approver', hint: 'who has voted: name of the key or person' },
  { name: 'session', hint: 'session of the step' },
];
const MAX_TEXT = 40;

/** All approvals, the latest first, by filters. */
export function History() {
  const terms = useQueryTerms(MEMBERS);
  const query = useInfiniteQuery(
    ApprovalService.method.listApprovals,
    { ...FIRST_PAGE, ...filterOf(terms.terms) },
    { ...FILTERED_BY_CURSOR, enabled: terms.isReady },
  );
  return (
    <>
      <div className="filter-line">
        <QueryBar label="Filter approvals" query={terms} textMember="agent" />
      </div>
      {terms.isReady && (
        <List
          label="Approvals"
          what="approvals"
          query={query}
          columns={COLUMNS}
          rowsOf={({ approvals }) => approvals}
          keyOf={({ id }) => id}
          empty={
            <Empty
              title={terms.terms.length === 0 ? 'No approvals yet' : 'No approval matches the filters'}
            />
          }
        />
      )}
    </>
  );
}

function filterOf(terms: readonly QueryTerm[]) {
  const named = onlyValueOf(terms, 'state');
  const state = STATES.find(([name]) => name === named)?.[1];
  const agentName = onlyValueOf(terms, 'agent');
  const control = onlyValueOf(terms, 'control');
  const decidedBy = onlyValueOf(terms, 'approver');
  const sessionId = onlyValueOf(terms, 'session');
  return {
    ...(state === undefined ? {} : { state }),
    ...(agentName === undefined ? {} : { agentName }),
    ...(control === undefined ? {} : { controlId: Number(control) }),
    ...(decidedBy === undefined ? {} : { decidedBy }),
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

const COLUMNS: Columns<Approval> = [
  {
    head: 'Approval',
    cell: ({ id }) => (
      <Link data-row-link href={`/approvals/${id}`}>
        {id}
      </Link>
    ),
  },
  { head: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { head: 'Question', cell: (approval) => <UserText text={questionText(approval)} max={MAX_TEXT} /> },
  AGENT_COLUMN as Columns<Approval>[number],
  { head: 'Step', cell: (approval) => <UserText text={stepText(approval)} max={MAX_TEXT} /> },
  {
    head: 'Votes',
    cell: ({ votes }) => (
      <UserText text={votes.map(({ by, decision }) => `${by} ${decisionText(decision)}`).join(', ') || '–'} />
    ),
  },
  { head: 'Asked', cell: ({ askedAt }) => <At time={askedAt} /> },
  { head: 'Decided', cell: ({ decidedAt }) => (decidedAt === undefined ? '–' : <At time={decidedAt} />) },
];

function At({ time }: { readonly time: Timestamp | undefined }) {
  return <TimeText time={time === undefined ? undefined : timestampDate(time).toISOString()} />;
}
