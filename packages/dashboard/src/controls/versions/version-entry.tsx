import { useQuery } from '@connectrpc/connect-query';
import {
  ControlService,
  type ControlVersion,
  type GetControlResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import { useState } from 'react';
import { Link } from 'wouter';
import { JsonView } from '../../code/json-view.js';
import { comparisonAddress } from '../../control-parts/comparison-address.js';
import { QueryState } from '../../ui/states.js';
import { TimeText } from '../../ui/time-text.js';
import { UserText } from '../../ui/user-text.js';
import { type Restored, RestoreVersion } from './restore-version.js';
import { VersionAuthor } from './version-author.js';
import { versionJson } from './version-value.js';

interface VersionEntryProps {
  readonly controlId: number;
  readonly control: GetControlResponse | undefined;
  readonly version: ControlVersion;
  /** Number of the latest version. */
  readonly newest: number;
  readonly onCompare: () => void;
  readonly onRestored: (restored: Restored) => void;
}

/** A version in the timeline: who changed what and when. */
export function VersionEntry(props: VersionEntryProps) {
  const { controlId, version, newest, onCompare } = props;
  const [isOpen, setOpen] = useState(false);
  const { versionNum, eventType, createdAt, changedMembers, note } = version;
  return (
    <li>
      <p className="version-head">
        <strong>Version {versionNum}</strong>
        {versionNum === newest && <span className="tag">current</span>}
        <span>{eventType}</span>
        <TimeText time={createdAt} isExact />
        <VersionAuthor version={version} />
      </p>
      {note !== undefined && (
        <p>
          <UserText text={note} max={200} />
        </p>
      )}
      {changedMembers.length > 0 && <p className="muted">Changed: {changedMembers.join(', ')}</p>}
      <p className="links">
        {versionNum > 1 && (
          <Link href={comparisonAddress(controlId, versionNum - 1, versionNum)} onClick={onCompare}>
            Changes of version {versionNum}
          </Link>
        )}
        {versionNum !== newest && (
          <Link href={comparisonAddress(controlId, versionNum, newest)} onClick={onCompare}>
            Compare version {versionNum} with the current one
          </Link>
        )}
      </p>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Content of version {versionNum}</summary>
        {isOpen && <Content {...props} />}
      </details>
    </li>
  );
}

function Content({ controlId, control, version: { versionNum }, onRestored }: VersionEntryProps) {
  const query = useQuery(ControlService.method.getControlVersion, { controlId, versionNum });
  return (
    <QueryState query={query} what="the content">
      {({ snapshot }) =>
        snapshot === undefined ? null : (
          <>
            {control !== undefined && (
              <p>
                <RestoreVersion
                  control={control}
                  versionNum={versionNum}
                  snapshot={snapshot}
                  onRestored={onRestored}
                />
              </p>
            )}
            <JsonView text={versionJson(snapshot)} label={`Content of version ${versionNum}`} />
          </>
        )
      }
    </QueryState>
  );
}
