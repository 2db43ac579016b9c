import { useQuery } from '@connectrpc/connect-query';
import {
  ControlService,
  type ControlVersion,
  type GetControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { Link } from 'wouter';
import { comparisonAddress } from '../../control-parts/comparison-address.js';
import { QueryState } from '../../ui/states.js';
import { TimeText } from '../../ui/time-text.js';
import { UserText } from '../../ui/user-text.js';
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
        {({ versions: [latest] }) =>
          latest !== undefined && <Latest controlId={control.id} version={latest} />
        }
      </QueryState>
    </section>
  );
}

interface LatestProps {
  readonly controlId: number;
  readonly version: ControlVersion;
}

function Latest({ controlId, version }: LatestProps) {
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
          <Link href={comparisonAddress(controlId, versionNum - 1, versionNum)}>What changed</Link>
          {changedMembers.length > 0 && <span className="muted">{changedMembers.join(', ')}</span>}
        </p>
      )}
    </>
  );
}
