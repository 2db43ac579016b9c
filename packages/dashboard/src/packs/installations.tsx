import { timestampDate } from '@bufbuild/protobuf/wkt';
import type {
  PackInstallation,
  UpdatePackInstallationResponse,
} from '@gen/enforcement/v1/pack_service_pb.js';
import { type ReactNode, useState } from 'react';
import { NameLink } from '../ui/name-link.js';
import { numberOf } from '../ui/numbers.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { TimeText } from '../ui/time-text.js';
import { Warnings } from '../ui/warnings.js';
import { Comparison } from './comparison.js';
import { UninstallButton, type Uninstalled } from './uninstall-button.js';

interface InstallationsProps {
  readonly installations: readonly PackInstallation[];
  readonly mayChange: boolean;
  readonly empty: ReactNode;
}

/** The installations of a pack. One of them can be compared with the pack as it is now: that is part of the address. */
export function Installations({ installations, mayChange, empty }: InstallationsProps) {
  const { get, set } = useAddressFilter();
  const [uninstalled, setUninstalled] = useState<Uninstalled | null>(null);
  const [updated, setUpdated] = useState<UpdatePackInstallationResponse | null>(null);
  const [first] = installations;
  const compared =
    get('compare') || (installations.length === 1 && first?.updateAvailable ? `${first.installationId}` : '');
  return (
    <>
      {uninstalled !== null && <UninstalledNote uninstalled={uninstalled} />}
      {updated !== null && <UpdatedNote updated={updated} />}
      {installations.length === 0 && empty}
      <ul className="pack-controls">
        {installations.map((installation) => (
          <li key={installation.installationId} className="card">
            <Installation
              installation={installation}
              mayChange={mayChange}
              isCompared={compared === String(installation.installationId)}
              onCompare={(isCompared) =>
                set('compare', isCompared ? String(installation.installationId) : 'none')
              }
              onUninstalled={setUninstalled}
              onUpdated={setUpdated}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

interface InstallationProps {
  readonly installation: PackInstallation;
  readonly mayChange: boolean;
  readonly isCompared: boolean;
  readonly onCompare: (isCompared: boolean) => void;
  readonly onUninstalled: (uninstalled: Uninstalled) => void;
  readonly onUpdated: (updated: UpdatePackInstallationResponse) => void;
}

function Installation(props: InstallationProps) {
  const { installation, mayChange, isCompared, onCompare, onUninstalled, onUpdated } = props;
  const { policyId, policyName, version, currentVersion, updateAvailable, updatedAt, controls } =
    installation;
  const present = controls.filter(({ controlId }) => controlId !== undefined);
  return (
    <>
      <div className="trace-head">
        <h2>
          In <NameLink href={`/policies/${policyId}`} name={policyName} />
        </h2>
        <span>version {version}</span>
        {updateAvailable && <span className="badge observe">version {currentVersion} is newer</span>}
        {currentVersion === undefined && <span className="badge">the service has no such pack any more</span>}
        {updatedAt !== undefined && (
          <span className="muted">
            since <TimeText time={timestampDate(updatedAt).toISOString()} />
          </span>
        )}
      </div>
      <p>
        {numberOf(present.length, 'control')}
        {present.length < controls.length && ` of ${controls.length}`}:{' '}
        {present.map(({ key, controlId, controlName, changed }, index) => (
          <span key={key}>
            {index > 0 && ', '}
            <NameLink href={`/controls/${controlId}`} name={controlName ?? key} />
            {changed && <span className="muted"> (changed here)</span>}
          </span>
        ))}
      </p>
      <div className="links">
        <button type="button" aria-expanded={isCompared} onClick={() => onCompare(!isCompared)}>
          Compare with the pack
        </button>
        {mayChange && <UninstallButton installation={installation} onUninstalled={onUninstalled} />}
      </div>
      {isCompared && <Comparison installation={installation} mayChange={mayChange} onUpdated={onUpdated} />}
    </>
  );
}

/** What an update has changed. It stays when the comparison, which has nothing to tell any more, is gone. */
function UpdatedNote({ updated }: { readonly updated: UpdatePackInstallationResponse }) {
  const { installation, kept, warnings } = updated;
  return (
    <>
      <p className="success" role="status">
        Updated to version {installation?.version}: {numberOf(updated.updated.length, 'control')} changed
        {kept.length > 0 && `; what was changed here is kept in ${kept.join(', ')}`}.
      </p>
      <Warnings warnings={warnings} />
    </>
  );
}

function UninstalledNote({ uninstalled }: { readonly uninstalled: Uninstalled }) {
  const { policyName, deleted, kept } = uninstalled;
  return (
    <p className="success" role="status">
      Uninstalled from <NameLink href={`/policies/${uninstalled.policyId}`} name={policyName} />:{' '}
      {numberOf(deleted, 'control')} deleted, {numberOf(kept, 'control')} kept.
    </p>
  );
}
