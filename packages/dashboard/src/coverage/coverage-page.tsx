import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useInfiniteQuery } from '@connectrpc/connect-query';
import {
  type AgentCoverage,
  CoverageService,
  CoverageState,
  type CoverageSummary,
} from '@gen/enforcement/v1/coverage_service_pb.js';
import { FILTERED_BY_CURSOR, FIRST_PAGE } from '../data/by-cursor.js';
import { agentAddress } from '../references/agent-address.js';
import { FilterBar } from '../ui/list/filter-fields.js';
import { List } from '../ui/list/list.js';
import { NameLink } from '../ui/name-link.js';
import { countText, numberOf } from '../ui/numbers.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { stageText } from './coverage-text.js';
import './coverage.css';
import { Expected } from './expected.js';

const STATES = [
  ['', 'all'],
  ['never_seen', 'never seen'],
  ['overdue', 'overdue'],
] as const;
const STATE_OF: Readonly<Record<string, CoverageState>> = {
  never_seen: CoverageState.NEVER_SEEN,
  overdue: CoverageState.OVERDUE,
};
const FIELDS = [
  { name: 'name', label: 'Agent' },
  { name: 'state', label: 'State', options: STATES },
];
/** Steps named in a row. */
const SHOWN = 3;
/** Most characters of names: all columns are to be in view in a usual window. */
const NAME_LENGTH = 40;

/** Which steps of agents are evaluated where, and which never are. */
export default function CoveragePage() {
  const filter = useAddressFilter();
  const state = STATE_OF[filter.get('state')];
  const name = filter.get('name');
  const query = useInfiniteQuery(
    CoverageService.method.listCoverage,
    { ...FIRST_PAGE, ...(name === '' ? {} : { name }), ...(state === undefined ? {} : { state }) },
    FILTERED_BY_CURSOR,
  );
  return (
    <Page title="Coverage">
      <Summary summary={query.data?.pages[0]?.summary} />
      <FilterBar fields={FIELDS} filter={filter} />
      <List
        label="Coverage"
        what="the coverage"
        query={query}
        columns={COLUMNS}
        rowsOf={({ agents }) => agents}
        keyOf={({ agentName }) => agentName}
        empty={<NoAgents isFiltered={name !== '' || state !== undefined} />}
      />
    </Page>
  );
}

function NoAgents({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No agent matches the filters" />;
  return (
    <Empty title="No agents yet">
      <p>
        Registered agents are listed here with where their steps are evaluated, and which steps never are.
      </p>
    </Empty>
  );
}

function Summary({ summary }: { readonly summary: CoverageSummary | undefined }) {
  if (summary === undefined || summary.agents === 0) return null;
  const { agents, neverSeen, overdue } = summary;
  return (
    <p className="muted">
      Of {numberOf(agents, 'agent')}, {neverSeen.toLocaleString()} never had a step evaluated, and{' '}
      {overdue.toLocaleString()} {overdue === 1 ? 'is' : 'are'} not heard as expected.
    </p>
  );
}

const COLUMNS: Columns<AgentCoverage> = [
  {
    head: 'Agent',
    cell: ({ agentName }) => <NameLink href={agentAddress(agentName)} name={agentName} max={NAME_LENGTH} />,
  },
  {
    head: 'Last seen',
    cell: ({ lastSeenAt }) =>
      lastSeenAt === undefined ? <span className="badge steer">never</span> : <At time={lastSeenAt} />,
  },
  { head: 'Points', cell: (agent) => <Points agent={agent} /> },
  { head: 'Steps never checked', cell: (agent) => <Unchecked agent={agent} /> },
  { head: 'Expected', cell: (agent) => <Expected agent={agent} /> },
];

function At({ time }: { readonly time: Timestamp | undefined }) {
  return <TimeText time={time === undefined ? undefined : timestampDate(time).toISOString()} isShort />;
}

/** Where steps come from, with the number of evaluations and the last one. */
function Points({ agent: { points } }: { readonly agent: AgentCoverage }) {
  if (points.length === 0) return <span className="muted">none</span>;
  return (
    <ul className="coverage-list">
      {points.map(({ point, stage, evaluated, lastSeenAt }) => (
        <li key={`${point} ${stage}`}>
          <UserText text={point} max={64} /> {stageText(stage)}{' '}
          <span className="muted">
            {countText(evaluated)}, <At time={lastSeenAt} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Registered steps that were not evaluated in a stage. */
function Unchecked({ agent }: { readonly agent: AgentCoverage }) {
  const { registeredSteps, uncheckedStepCount, uncheckedSteps, unnamedEvaluations } = agent;
  if (registeredSteps === 0) return <span className="muted">no steps registered</span>;
  if (uncheckedStepCount === 0)
    return <span className="badge safe">none of {countText(registeredSteps)}</span>;
  return (
    <div className="coverage-cell">
      {countText(uncheckedStepCount)} of {countText(registeredSteps)}
      <ul className="coverage-list">
        {uncheckedSteps.slice(0, SHOWN).map(({ type, name, stages }) => (
          <li key={`${type}\0${name}`}>
            <UserText text={name} max={NAME_LENGTH} />{' '}
            <span className="muted">{stages.map(stageText).join(' and ')}</span>
          </li>
        ))}
      </ul>
      {uncheckedStepCount > SHOWN && <span className="muted">and {uncheckedStepCount - SHOWN} more</span>}
      {unnamedEvaluations > 0n && (
        <p className="muted coverage-note">
          Evaluations without the names of their steps, which are too many or too long:{' '}
          {countText(unnamedEvaluations)}. Some of these may be among them.
        </p>
      )}
    </div>
  );
}
