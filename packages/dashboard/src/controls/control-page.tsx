import { Code, ConnectError } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { JsonView } from '../code/json-view.js';
import { ControlWarnings } from '../control-parts/control-warnings.js';
import { definitionJson } from '../control-parts/definition-json.js';
import { DefinitionView } from '../control-parts/definition-view.js';
import { useIsAdmin } from '../session/session-context.js';
import { AddressTabs } from '../ui/page/address-tabs.js';
import { ByNumber } from '../ui/page/by-number.js';
import { Page } from '../ui/page/page.js';
import type { Tab } from '../ui/page/tabs.js';
import { Empty, QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { ControlActivity } from './control-activity.js';
import { TagLink } from './control-columns.js';
import { ControlSwitch } from './control-switch.js';
import { ControlUsage } from './control-usage.js';
import { DeleteControl } from './delete-control.js';
import { ControlVersions } from './versions/control-versions.js';

/** One control: its definition, who uses it, and its versions. */
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
      actions={<Actions controlId={controlId} control={isGone ? undefined : query.data} />}
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

interface ActionsProps {
  readonly controlId: number;
  readonly control: GetControlResponse | undefined;
}

function Actions({ controlId, control }: ActionsProps) {
  const isAdmin = useIsAdmin();
  return (
    <span className="links">
      <Link href={`/events?control=${controlId}`}>Events</Link>
      {isAdmin && control !== undefined && (
        <>
          <Link href={`/controls/${controlId}/edit`} data-shortcut="e">
            Edit
          </Link>
          <Link href={`/controls/new?copy=${controlId}`}>Duplicate</Link>
          <ControlSwitch control={control} />
          <DeleteControl control={control} />
        </>
      )}
    </span>
  );
}

function ControlDetails({ control }: { readonly control: GetControlResponse }) {
  const { id, data } = control;
  const tabs: readonly Tab[] = [
    { id: 'definition', name: 'Definition', content: <Definition control={control} /> },
    {
      id: 'json',
      name: 'JSON',
      content:
        data === undefined ? null : <JsonView text={definitionJson(data)} label="Definition as JSON" />,
    },
    { id: 'usage', name: 'Used by', content: <ControlUsage control={control} /> },
    { id: 'versions', name: 'Versions', content: <ControlVersions controlId={id} control={control} /> },
    { id: 'activity', name: 'Activity', content: <ControlActivity controlId={id} /> },
  ];
  return (
    <>
      {data?.description !== undefined && <p dir="auto">{data.description}</p>}
      <p className="links">
        <span>
          State: <strong>{data?.enabled === false ? 'off' : 'on'}</strong>
        </span>
        <Link href={`/controls/${id}?tab=versions`}>Version {String(control.version)}</Link>
        {data?.tags.map((tag) => (
          <TagLink key={tag} tag={tag} />
        ))}
      </p>
      <AddressTabs label="Control" tabs={tabs} />
    </>
  );
}

function Definition({ control: { id, data } }: { readonly control: GetControlResponse }) {
  if (data === undefined) {
    return (
      <Empty title="The stored definition cannot be read">
        <p>The control is evaluated as an error until its definition is replaced.</p>
      </Empty>
    );
  }
  const isDraft = data.template !== undefined && data.condition === undefined;
  return (
    <>
      {data.template !== undefined && (
        <p className="notice">
          {isDraft
            ? 'A draft: its template has parameters without a value, so it checks nothing. '
            : 'Made from a template. '}
          <Link href={`/controls/${id}/template`}>Values of the template</Link>
        </p>
      )}
      <ControlWarnings data={data} />
      {!isDraft && <DefinitionView data={data} />}
    </>
  );
}
