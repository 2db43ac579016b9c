import { Code, ConnectError } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { OwnedBy } from '../control-parts/owned-note.js';
import { signOfDecision } from '../control-parts/sign.js';
import { ControlShadow } from '../shadows/control-shadow.js';
import { AddressTabs } from '../ui/page/address-tabs.js';
import { ByNumber } from '../ui/page/by-number.js';
import { Page } from '../ui/page/page.js';
import type { Tab } from '../ui/page/tabs.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { ControlActions } from './control-actions.js';
import { ControlActivity } from './control-activity.js';
import { TagLink } from './control-columns.js';
import { ControlUsage } from './control-usage.js';
import { ControlVersions } from './versions/control-versions.js';
import { ControlProblems } from './workplace/control-problems.js';
import { ControlWorkplace } from './workplace/control-workplace.js';

/** One control: its definition beside its matches, who uses it, and its versions. */
export default function ControlPage() {
  return <ByNumber what="A control">{(id) => <ControlOfId key={id} controlId={id} />}</ByNumber>;
}

function ControlOfId({ controlId }: { readonly controlId: number }) {
  const query = useQuery(ControlService.method.getControl, { controlId });
  const name = query.data?.name ?? `Control ${controlId}`;
  const isGone = query.error !== null && ConnectError.from(query.error).code === Code.NotFound;
  return (
    <Page
      title={name}
      heading={<UserText text={name} />}
      actions={<ControlActions controlId={controlId} control={isGone ? undefined : query.data} />}
    >
      {isGone ? (
        <>
          <p className="notice">This control does not exist. Versions of a deleted control are kept:</p>
          <ControlVersions controlId={controlId} control={undefined} />
        </>
      ) : (
        <QueryState query={query} what="the control">
          {(control) => <ControlDetails control={control} />}
        </QueryState>
      )}
    </Page>
  );
}

function ControlDetails({ control }: { readonly control: GetControlResponse }) {
  const { id, data, action, owner } = control;
  const { get } = useAddressFilter();
  const isJsonOpen = get('tab') === 'json';
  const tabs: readonly Tab[] = [
    {
      id: 'definition',
      name: 'Definition and matches',
      content: <ControlWorkplace key={String(isJsonOpen)} control={control} isJsonOpen={isJsonOpen} />,
    },
    { id: 'shadow', name: 'Shadow', content: <ControlShadow controlId={id} owner={owner} /> },
    { id: 'usage', name: 'Used by', content: <ControlUsage control={control} /> },
    { id: 'versions', name: 'Versions', content: <ControlVersions controlId={id} control={control} /> },
    { id: 'activity', name: 'Activity', content: <ControlActivity controlId={id} /> },
  ];
  return (
    <>
      <ControlProblems controlId={id} />
      {data?.description !== undefined && <p dir="auto">{data.description}</p>}
      <p className="links">
        <span>
          State: <strong>{data?.enabled === false ? 'off' : 'on'}</strong>
        </span>
        {action !== undefined && <DecisionBadge sign={signOfDecision(action.decision)} />}
        {data?.tags.map((tag) => (
          <TagLink key={tag} tag={tag} />
        ))}
      </p>
      <OwnedBy owner={owner} />
      <AddressTabs label="Control" tabs={tabs} />
    </>
  );
}
