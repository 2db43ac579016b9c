import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { useState } from 'react';
import {
  ControlService,
  type ControlVersion,
} from '../../../../gen/proto/enforcement/v1/control_service_pb.js';
import { BY_CURSOR } from '../shared/by-cursor.js';
import { LoadMore } from '../shared/load-more.js';
import { Empty, QueryState } from '../shared/states.js';
import { TimeText } from '../shared/time-text.js';
import { UserText } from '../shared/user-text.js';
import { definitionJson } from './definition-json.js';

const PAGE_SIZE = 20;

/** The versions of a control, latest first. */
export function ControlVersions({ controlId }: { readonly controlId: number }) {
  const query = useInfiniteQuery(
    ControlService.method.listControlVersions,
    { controlId, cursor: undefined, limit: PAGE_SIZE },
    BY_CURSOR,
  );
  return (
    <QueryState query={query} what="versions">
      {({ pages }) => {
        const versions = pages.flatMap((page) => page.versions);
        if (versions.length === 0) return <Empty title="No version is stored" />;
        return (
          <>
            <ol className="timeline">
              {versions.map((version) => (
                <Version key={version.versionNum} controlId={controlId} version={version} />
              ))}
            </ol>
            <LoadMore {...query} shown={versions.length} total={pages[0]?.pagination?.total ?? 0} />
          </>
        );
      }}
    </QueryState>
  );
}

interface VersionProps {
  readonly controlId: number;
  readonly version: ControlVersion;
}

function Version({ controlId, version }: VersionProps) {
  const [isOpen, setOpen] = useState(false);
  const { versionNum, eventType, createdAt, changedMembers, note, keyFingerprint } = version;
  return (
    <li>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <strong>Version {versionNum}</strong> · {eventType} · <TimeText time={createdAt} />
          {changedMembers.length > 0 && (
            <span className="muted"> · changed: {changedMembers.join(', ')}</span>
          )}
        </summary>
        <p className="muted">
          <TimeText time={createdAt} isExact />
          {keyFingerprint !== undefined && ` · by the key ${keyFingerprint}`}
          {note !== undefined && (
            <>
              {' · '}
              <UserText text={note} />
            </>
          )}
        </p>
        {isOpen && <VersionDefinition controlId={controlId} versionNum={versionNum} />}
      </details>
    </li>
  );
}

function VersionDefinition({
  controlId,
  versionNum,
}: {
  readonly controlId: number;
  readonly versionNum: number;
}) {
  const query = useQuery(ControlService.method.getControlVersion, { controlId, versionNum });
  return (
    <QueryState query={query} what="the definition">
      {({ snapshot }) => (
        <pre className="code">
          {snapshot?.data === undefined ? 'no definition' : definitionJson(snapshot.data)}
        </pre>
      )}
    </QueryState>
  );
}
