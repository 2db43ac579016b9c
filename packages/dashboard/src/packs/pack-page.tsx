import { Code, ConnectError } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { type GetPackResponse, PackService } from '@gen/enforcement/v1/pack_service_pb.js';
import { useState } from 'react';
import { Link, useParams } from 'wouter';
import { useMay } from '../session/session-context.js';
import { Fact } from '../ui/fact.js';
import { AddressTabs } from '../ui/page/address-tabs.js';
import { decodedPart } from '../ui/page/decoded-part.js';
import { Page } from '../ui/page/page.js';
import { Empty, QueryState } from '../ui/states.js';
import { UserText } from '../ui/user-text.js';
import { InstallDialog, type Installed } from './install-dialog.js';
import { Installations } from './installations.js';
import { InstalledNote } from './installed-note.js';
import { PackControls } from './pack-controls.js';
import { MissingEvaluators, PackTags, PackText } from './pack-parts.js';
import { PackPreview } from './pack-preview.js';
import './packs.css';

/** One pack: its controls, what they would check, and where they are installed. */
export default function PackPage() {
  const { name: part = '' } = useParams<{ name: string }>();
  const name = decodedPart(part);
  return <LoadedPack key={name} name={name} />;
}

function LoadedPack({ name }: { readonly name: string }) {
  const query = useQuery(PackService.method.getPack, { packName: name }, { retry: false });
  const isGone = query.error !== null && ConnectError.from(query.error).code === Code.NotFound;
  if (isGone) return <GonePack name={name} />;
  if (query.data?.pack !== undefined) return <Pack reply={query.data} />;
  return (
    <Page title={name} heading={<UserText text={name} />}>
      <QueryState query={{ ...query, data: undefined }} what="the pack">
        {() => null}
      </QueryState>
    </Page>
  );
}

function Pack({ reply: { pack, controls, installations } }: { readonly reply: GetPackResponse }) {
  const mayWriteControls = useMay('controls.write');
  const mayWritePolicies = useMay('policies.write');
  const mayReadEvents = useMay('events.read');
  const [isInstalling, setInstalling] = useState(false);
  const [installed, setInstalled] = useState<Installed | null>(null);
  if (pack === undefined) return null;
  const mayChange = mayWriteControls && mayWritePolicies;
  const outdated = installations.filter(({ updateAvailable }) => updateAvailable).length;
  return (
    <Page
      title={pack.title}
      heading={<UserText text={pack.title} />}
      actions={
        <div className="links">
          <Link href="/packs">All packs</Link>
          {mayChange && (
            <button type="button" className="primary" onClick={() => setInstalling(true)}>
              Install…
            </button>
          )}
        </div>
      }
    >
      <PackText text={pack.description} />
      <dl className="facts">
        <Fact name="Name">
          <code>{pack.name}</code>
        </Fact>
        <Fact name="Version">{pack.version}</Fact>
        <Fact name="Controls">{pack.controlCount}</Fact>
        <Fact name="Cases">{pack.caseCount.toLocaleString()}</Fact>
        <Fact name="From">{pack.builtIn ? 'this service' : 'a folder of SERVICE_PACKS'}</Fact>
      </dl>
      <PackTags pack={pack} />
      <MissingEvaluators pack={pack} />
      {installed !== null && <InstalledNote installed={installed} />}
      {isInstalling && (
        <InstallDialog
          pack={pack}
          controls={controls}
          onClose={() => setInstalling(false)}
          onInstalled={(next) => {
            setInstalled(next);
            setInstalling(false);
          }}
        />
      )}
      <AddressTabs
        label="Pack"
        tabs={[
          { id: 'controls', name: 'Controls', content: <PackControls controls={controls} /> },
          ...(mayReadEvents
            ? [{ id: 'preview', name: 'Preview', content: <PackPreview pack={pack} controls={controls} /> }]
            : []),
          {
            id: 'installations',
            name: `Installations (${installations.length}${outdated > 0 ? `, ${outdated} outdated` : ''})`,
            content: (
              <Installations
                installations={installations}
                mayChange={mayChange}
                empty={
                  <Empty title="The pack is not installed">
                    <p>Installing creates its controls in a policy. They observe at first.</p>
                  </Empty>
                }
              />
            ),
          },
        ]}
      />
    </Page>
  );
}

/** A pack that the service does not have, or not any more: what is left of it are its installations. */
function GonePack({ name }: { readonly name: string }) {
  const mayWriteControls = useMay('controls.write');
  const mayWritePolicies = useMay('policies.write');
  const query = useQuery(PackService.method.listPackInstallations, { packName: name });
  return (
    <Page title={name} heading={<UserText text={name} />} actions={<Link href="/packs">All packs</Link>}>
      <p className="notice">The service has no pack of this name.</p>
      <QueryState query={query} what="installations">
        {({ installations }) => (
          <Installations
            installations={installations}
            mayChange={mayWriteControls && mayWritePolicies}
            empty={<p className="muted">It is not installed either.</p>}
          />
        )}
      </QueryState>
    </Page>
  );
}
