import { useInfiniteQuery } from '@connectrpc/connect-query';
import { keepPreviousData } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Execution, Stage } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import {
  ControlService,
  type ControlSummary,
} from '../../../../gen/proto/enforcement/v1/control_service_pb.js';
import { BY_CURSOR } from '../shared/by-cursor.js';
import { DecisionBadge, signOfDecision } from '../shared/decision-badge.js';
import { LoadMore, nextPageOf } from '../shared/load-more.js';
import { Page } from '../shared/page.js';
import { SelectField, TextField } from '../shared/select-field.js';
import { Empty, QueryState } from '../shared/states.js';
import { Table } from '../shared/table.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { useDebounced } from '../shared/use-debounced.js';
import { UserText } from '../shared/user-text.js';
import { stageText } from './scope-text.js';

const PAGE_SIZE = 50;
const COLUMNS = ['Control', 'Decision', 'State', 'Runs in', 'Steps', 'Tags', 'Agents'];
const ANY = ['', 'any'] as const;
const STATES = [ANY, ['true', 'on'], ['false', 'off']] as const;
const STAGES = [ANY, ['pre', 'pre'], ['post', 'post']] as const;
const EXECUTIONS = [ANY, ['server', 'server'], ['sdk', 'client']] as const;

/** All controls, with filters. */
export default function ControlsPage() {
  const [filters, setFilter] = useAddressFilter();
  const value = (name: string) => filters.get(name) ?? '';
  const text = useDebounced(`${value('name')}\n${value('tag')}\n${value('step_type')}`);
  const [name = '', tag = '', stepType = ''] = text.split('\n').map((part) => part.trim());
  const query = useInfiniteQuery(
    ControlService.method.listControls,
    {
      cursor: undefined,
      limit: PAGE_SIZE,
      ...(name === '' ? {} : { name }),
      ...(tag === '' ? {} : { tag }),
      ...(stepType === '' ? {} : { stepType }),
      ...(value('enabled') === '' ? {} : { enabled: value('enabled') === 'true' }),
      stageFilter: { pre: Stage.PRE, post: Stage.POST }[value('stage')] ?? Stage.UNSPECIFIED,
      executionFilter:
        { server: Execution.SERVER, sdk: Execution.SDK }[value('execution')] ?? Execution.UNSPECIFIED,
    },
    { ...BY_CURSOR, placeholderData: keepPreviousData },
  );
  const set = (filter: string) => (chosen: string) => setFilter(filter, chosen);
  return (
    <Page title="Controls">
      <search className="filters">
        <TextField label="Name contains" type="search" value={value('name')} onChange={set('name')} />
        <TextField label="Tag" type="search" value={value('tag')} onChange={set('tag')} />
        <TextField label="Step type" type="search" value={value('step_type')} onChange={set('step_type')} />
        <SelectField label="State" value={value('enabled')} options={STATES} onChange={set('enabled')} />
        <SelectField label="Stage" value={value('stage')} options={STAGES} onChange={set('stage')} />
        <SelectField
          label="Runs in"
          value={value('execution')}
          options={EXECUTIONS}
          onChange={set('execution')}
        />
      </search>
      <QueryState query={query} what="controls">
        {({ pages }) => {
          const controls = pages.flatMap((page) => page.controls);
          if (controls.length === 0) return <NoControls isFiltered={filters.size > 0} />;
          return (
            <>
              <Table label="Controls" columns={COLUMNS} onEnd={nextPageOf(query)}>
                {controls.map((control) => (
                  <ControlRow key={control.id} control={control} />
                ))}
              </Table>
              <LoadMore {...query} shown={controls.length} total={pages[0]?.pagination?.total ?? 0} />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

function ControlRow({ control }: { readonly control: ControlSummary }) {
  const { id, name, action, enabled, execution, stages, stepTypes, tags, usedByAgentsCount } = control;
  return (
    <tr>
      <td>
        <Link href={`/controls/${id}`}>
          <UserText text={name} />
        </Link>
      </td>
      <td>
        <DecisionBadge sign={signOfDecision(action?.decision)} />
      </td>
      <td>{enabled ? 'on' : <span className="muted">off</span>}</td>
      <td>{execution === Execution.SDK ? 'client' : 'server'}</td>
      <td>
        <UserText text={[...stages.map(stageText), ...stepTypes].join(' · ') || 'every step'} />
      </td>
      <td>
        {tags.map((tag) => (
          <span key={tag} className="tag">
            <UserText text={tag} max={30} />
          </span>
        ))}
      </td>
      <td className="number">{usedByAgentsCount}</td>
    </tr>
  );
}

function NoControls({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title="No control matches the filters" />;
  return (
    <Empty title="No controls yet">
      <p>
        A control says which steps to check, what to check, and what to do on a match. Create one over the
        API:
      </p>
      <pre className="code">
        {`curl -X PUT ${window.location.origin}/api/v1/controls -H 'content-type: application/json' -d '{
  "name": "no-card-numbers",
  "data": {
    "execution": "server",
    "condition": {
      "selector": {"path": "input.text"},
      "evaluator": {"name": "regex", "config": {"pattern": "\\\\b\\\\d{16}\\\\b"}}
    },
    "action": {"decision": "deny"}
  }
}'`}
      </pre>
    </Empty>
  );
}
