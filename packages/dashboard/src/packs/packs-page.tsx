import { useQuery } from '@connectrpc/connect-query';
import { type PackInstallation, PackService, type PackSummary } from '@gen/enforcement/v1/pack_service_pb.js';
import { FilterBar, type FilterField } from '../ui/list/filter-fields.js';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../ui/states.js';
import { packAddress } from './pack-address.js';
import { MissingEvaluators, PackTags, PackText } from './pack-parts.js';
import '../control-parts/controls.css';
import './packs.css';

const FILTERS: readonly FilterField[] = [
  { name: 'text', label: 'Contains' },
  {
    name: 'state',
    label: 'State',
    options: [
      ['', 'all'],
      ['installed', 'installed'],
      ['outdated', 'newer version'],
      ['other', 'not installed'],
    ],
  },
];

/** The packs of the service, and which of them are installed. */
export default function PacksPage() {
  const filter = useAddressFilter();
  const query = useQuery(PackService.method.listPacks, {});
  return (
    <Page title="Packs">
      <p>
        A pack is a ready-made set of controls for one purpose, each with a reason and with cases. Installed
        controls are in a policy and observe at first. They are ordinary controls, and what you change in them
        is kept when the pack has a newer version.
      </p>
      <FilterBar fields={FILTERS} filter={filter} />
      <QueryState query={query} what="packs">
        {({ packs, installations }) => {
          const shown = packs.filter(
            (pack) =>
              containsText(pack, filter.get('text')) &&
              hasState(ofPack(installations, pack.name), filter.get('state')),
          );
          const known = new Set(packs.map(({ name }) => name));
          return (
            <>
              {shown.length === 0 && (
                <Empty
                  title={packs.length === 0 ? 'The service has no packs' : 'No pack passes the filters'}
                />
              )}
              <ul className="packs">
                {shown.map((pack) => (
                  <PackCard key={pack.name} pack={pack} installations={ofPack(installations, pack.name)} />
                ))}
              </ul>
              <GonePacks installations={installations.filter(({ packName }) => !known.has(packName))} />
            </>
          );
        }}
      </QueryState>
    </Page>
  );
}

interface PackCardProps {
  readonly pack: PackSummary;
  readonly installations: readonly PackInstallation[];
}

function PackCard({ pack, installations }: PackCardProps) {
  const { name, version, title, description, controlCount, caseCount, builtIn } = pack;
  return (
    <li className="card pack">
      <h2>
        <NameLink href={packAddress(name)} name={title} />
      </h2>
      <PackText text={description} />
      <p className="muted">
        Version {version} · {numberOf(controlCount, 'control')} · {numberOf(caseCount, 'case')}
        {!builtIn && ' · of this installation'}
      </p>
      <PackTags pack={pack} />
      <MissingEvaluators pack={pack} />
      <InstalledIn installations={installations} />
    </li>
  );
}

/** Where a pack is installed, and whether a newer version is there. */
function InstalledIn({ installations }: Pick<PackCardProps, 'installations'>) {
  if (installations.length === 0) return <p className="muted">Not installed.</p>;
  return (
    <ul className="plain">
      {installations.map(({ installationId, packName, policyId, policyName, version, updateAvailable }) => (
        <li key={installationId}>
          Installed in <NameLink href={`/policies/${policyId}`} name={policyName} max={40} />, version{' '}
          {version}
          {updateAvailable && (
            <>
              {' '}
              <NameLink href={packAddress(packName, 'installations')} name="Newer version: compare" />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Installations of packs that the service does not have any more. */
function GonePacks({ installations }: Pick<PackCardProps, 'installations'>) {
  if (installations.length === 0) return null;
  return (
    <section aria-labelledby="gone-packs">
      <h2 id="gone-packs">Packs that the service does not have any more</h2>
      <p>Their controls stay as they are.</p>
      <ul>
        {installations.map(({ installationId, packName, policyId, policyName }) => (
          <li key={installationId}>
            <NameLink href={packAddress(packName)} name={packName} /> in{' '}
            <NameLink href={`/policies/${policyId}`} name={policyName} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ofPack(installations: readonly PackInstallation[], name: string): readonly PackInstallation[] {
  return installations.filter(({ packName }) => packName === name);
}

function containsText({ name, title, description, tags, evaluators }: PackSummary, text: string): boolean {
  const part = text.trim().toLowerCase();
  return [name, title, description, ...tags, ...evaluators].some((one) => one.toLowerCase().includes(part));
}

function hasState(installations: readonly PackInstallation[], state: string): boolean {
  switch (state) {
    case 'installed':
      return installations.length > 0;
    case 'outdated':
      return installations.some(({ updateAvailable }) => updateAvailable);
    case 'other':
      return installations.length === 0;
    default:
      return true;
  }
}
