import { useQuery } from '@connectrpc/connect-query';
import { Link, useParams } from 'wouter';
import { Execution } from '../../../../gen/proto/enforcement/v1/control_pb.js';
import {
  ControlService,
  type GetControlResponse,
} from '../../../../gen/proto/enforcement/v1/control_service_pb.js';
import { useIsAdmin } from '../session/session-context.js';
import { DecisionBadge, signOfDecision } from '../shared/decision-badge.js';
import { Page } from '../shared/page.js';
import { Empty, QueryState } from '../shared/states.js';
import { type Tab, Tabs } from '../shared/tabs.js';
import { useAddressFilter } from '../shared/use-address-filter.js';
import { UserText } from '../shared/user-text.js';
import { ControlActivity } from './control-activity.js';
import { ControlSwitch } from './control-switch.js';
import { ControlUsage } from './control-usage.js';
import { ControlVersions } from './control-versions.js';
import { definitionJson } from './definition-json.js';
import { scopeText } from './scope-text.js';

/** One control: its definition, who uses it, and its versions. */
export default function ControlPage() {
  const { id = '' } = useParams<{ id: string }>();
  const controlId = Number(id);
  if (!Number.isInteger(controlId) || Math.abs(controlId) >= 2 ** 31) {
    return <Empty title="A control is addressed by its number" />;
  }
  return <ControlOfId controlId={controlId} />;
}

function ControlOfId({ controlId }: { readonly controlId: number }) {
  const query = useQuery(ControlService.method.getControl, { controlId });
  const isAdmin = useIsAdmin();
  const name = query.data?.name ?? `Control ${controlId}`;
  return (
    <Page
      title={name}
      heading={<UserText text={name} />}
      actions={
        <span className="links">
          <Link href={`/events?control=${controlId}`}>Events</Link>
          {isAdmin && query.data !== undefined && <ControlSwitch control={query.data} />}
        </span>
      }
    >
      <QueryState query={query} what="the control">
        {(control) => <ControlDetails control={control} />}
      </QueryState>
    </Page>
  );
}

function ControlDetails({ control }: { readonly control: GetControlResponse }) {
  const [filters, setFilter] = useAddressFilter();
  const { id, data } = control;
  const tabs: readonly Tab[] = [
    {
      id: 'definition',
      name: 'Definition',
      content: data === undefined ? null : <pre className="code">{definitionJson(data)}</pre>,
    },
    { id: 'usage', name: 'Used by', content: <ControlUsage controlId={id} /> },
    { id: 'versions', name: 'Versions', content: <ControlVersions controlId={id} /> },
    { id: 'activity', name: 'Activity', content: <ControlActivity controlId={id} /> },
  ];
  return (
    <>
      {data?.description !== undefined && <p dir="auto">{data.description}</p>}
      <dl className="facts">
        <div>
          <dt>Decision</dt>
          <dd>
            <DecisionBadge sign={signOfDecision(data?.action?.decision)} />
          </dd>
        </div>
        <div>
          <dt>State</dt>
          <dd>{data?.enabled === false ? 'off' : 'on'}</dd>
        </div>
        <div>
          <dt>Runs in</dt>
          <dd>{data?.execution === Execution.SDK ? 'client' : 'server'}</dd>
        </div>
        <div>
          <dt>Scope</dt>
          <dd>
            <UserText text={scopeText(data?.scope)} />
          </dd>
        </div>
      </dl>
      <Tabs
        label="Control"
        tabs={tabs}
        selected={filters.get('tab') ?? 'definition'}
        onSelect={(tab) => setFilter('tab', tab === 'definition' ? '' : tab)}
      />
    </>
  );
}
