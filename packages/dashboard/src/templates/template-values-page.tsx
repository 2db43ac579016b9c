import { useQuery } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { useState } from 'react';
import { Link } from 'wouter';
import { DraftGate } from '../drafts/draft-gate.js';
import { ByNumber } from '../ui/page/by-number.js';
import { Page } from '../ui/page/page.js';
import { Empty, Loading, QueryState } from '../ui/states.js';
import { readKeptTemplate, valuesPlace } from './template-kept.js';
import { TemplateValues } from './template-values.js';

/** The values were loaded once and are changed from then on: they are not loaded again behind the writer's back. */
const READ_ONCE = { staleTime: Number.POSITIVE_INFINITY, refetchOnMount: 'always', retry: false } as const;

/** The values of a control that is made from a template. */
export default function TemplateValuesPage() {
  return <ByNumber what="A control">{(id) => <ValuesOfControl key={id} controlId={id} />}</ByNumber>;
}

function ValuesOfControl({ controlId }: { readonly controlId: number }) {
  const query = useQuery(ControlService.method.getControl, { controlId }, READ_ONCE);
  const [loaded, setLoaded] = useState<GetControlResponse>();
  const [isReloading, setReloading] = useState(false);
  if (loaded === undefined && query.data !== undefined && query.isFetchedAfterMount) setLoaded(query.data);
  const reload = async (): Promise<void> => {
    setReloading(true);
    const { data } = await query.refetch();
    if (data !== undefined) setLoaded(data);
    setReloading(false);
  };
  if (loaded === undefined || isReloading) {
    return (
      <Page title="Values of the template">
        {query.error === null || isReloading ? (
          <Loading what="the control" />
        ) : (
          <QueryState query={query} what="the control">
            {() => null}
          </QueryState>
        )}
      </Page>
    );
  }
  if (loaded.data?.template === undefined) return <NoTemplate control={loaded} />;
  const { data, version } = loaded;
  const { template } = loaded.data;
  return (
    <DraftGate
      key={String(version)}
      place={valuesPlace(controlId)}
      read={readKeptTemplate}
      note={(kept) =>
        kept.version !== version && (
          <p>The control was changed since. Saving the draft asks which of the two counts.</p>
        )
      }
    >
      {(kept) => (
        <TemplateValues control={loaded} data={data} template={template} kept={kept} onReload={reload} />
      )}
    </DraftGate>
  );
}

function NoTemplate({ control: { id, name } }: { readonly control: GetControlResponse }) {
  return (
    <Page title={name}>
      <Empty title="This control is not made from a template">
        <p className="links centered">
          <Link href={`/controls/${id}`}>Open the control</Link>
          <Link href="/templates">Controls made from templates</Link>
        </p>
      </Empty>
    </Page>
  );
}
