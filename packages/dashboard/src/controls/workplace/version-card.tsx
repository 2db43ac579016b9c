import { useQuery } from '@connectrpc/connect-query';
import {
  ControlService,
  type ControlVersion,
  type GetControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { Link, useLocation } from 'wouter';
import { comparisonAddress } from '../../control-parts/comparison-address.js';
import { QueryState } from '../../ui/states.js';
import { TimeText } from '../../ui/time-text.js';
import { UserText } from '../../ui/user-text.js';
import { RestoreVersion } from '../versions/restore-version.js';
import { VersionAuthor } from '../versions/version-author.js';

const MAX_NOTE = 200;

/** Who changed the control last, when, and what. */
export function VersionCard({ control }: { readonly control: GetControlResponse }) {
  const query = useQuery(ControlService.method.listControlVersions, { controlId: control.id, limit: 1 });
  return (
    <section className="card side-card" aria-label="Version">
      <h2>
        Version {String(control.version)}
        <Link href={`/controls/${control.id}?tab=versions`}>All versions</Link>
      </h2>
      <QueryState query={query} what="the version">
        {({ versions: [latest] }) => latest !== undefined && <Latest control={control} version={latest} />}
      </QueryState>
    </section>
  );
}

interface LatestProps {
  readonly control: GetControlResponse;
  readonly version: ControlVersion;
}

function Latest({ control, version }: LatestProps) {
  const { versionNum, eventType, createdAt, changedMembers, note } = version;
  return (
    <>
      <p>
        {eventType} <TimeText time={createdAt} /> <VersionAuthor version={version} />
      </p>
      {note !== undefined && (
        <p>
          <UserText text={note} max={MAX_NOTE} />
        </p>
      )}
      {versionNum > 1 && (
        <p className="links">
          <Link href={comparisonAddress(control.id, versionNum - 1, versionNum)}>What changed</Link>
          {changedMembers.length > 0 && <span className="muted">{changedMembers.join(', ')}</span>}
          <RestorePrevious control={control} versionNum={versionNum - 1} />
        </p>
      )}
    </>
  );
}

/** Goes back to the version before, after a look at what that changes. */
function RestorePrevious({
  control,
  versionNum,
}: {
  readonly control: GetControlResponse;
  readonly versionNum: number;
}) {
  const [, open] = useLocation();
  const { data } = useQuery(ControlService.method.getControlVersion, { controlId: control.id, versionNum });
  if (data?.snapshot === undefined) return null;
  return (
    <RestoreVersion
      control={control}
      versionNum={versionNum}
      snapshot={data.snapshot}
      onRestored={({ newVersionNum }) =>
        open(comparisonAddress(control.id, newVersionNum - 1, newVersionNum))
      }
    />
  );
}
