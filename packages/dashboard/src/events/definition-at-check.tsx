import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { ControlService, type GetControlVersionResponse } from '@gen/enforcement/v1/control_service_pb.js';
import type { ControlExecutionEvent } from '@gen/enforcement/v1/observability_service_pb.js';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { comparisonAddress } from '../control-parts/comparison-address.js';
import { DefinitionView } from '../control-parts/definition-view.js';
import { versionAt } from '../control-parts/version-at.js';
import { transport } from '../data/transport.js';
import { useMay } from '../session/session-context.js';
import { QueryState } from '../ui/states.js';
import { TimeText } from '../ui/time-text.js';

const client = createClient(ControlService, transport);
/** Processes learn of a change within this time, unless the database is away. */
const PROPAGATION_MS = 5_000;

interface VersionAtCheck {
  /** Absent if there was none at the time. */
  readonly version?: GetControlVersionResponse;
  readonly newest: number;
}

/** The definition that a control had when it made a check, by the time of the check. */
export function DefinitionAtCheck({ event }: { readonly event: ControlExecutionEvent }) {
  const { controlId = 0, timestamp = '' } = event;
  const query = useQuery({
    queryKey: ['version at', controlId, timestamp],
    queryFn: () => findVersion(controlId, Date.parse(timestamp)),
  });
  return (
    <QueryState query={query} what="the definition">
      {(found) => <Found event={event} found={found} />}
    </QueryState>
  );
}

function Found({ event, found }: { readonly event: ControlExecutionEvent; readonly found: VersionAtCheck }) {
  const { controlId = 0, timestamp = '', evaluatorName, selectorPath } = event;
  const { version, newest } = found;
  const mayChange = useMay('controls.write');
  const data = version?.snapshot?.data;
  if (version === undefined || data === undefined) {
    return <p className="muted">No definition of this control is stored for the time of the check.</p>;
  }
  const isCurrent = version.versionNum === newest;
  const isRecent = Date.parse(timestamp) - Date.parse(version.createdAt) < PROPAGATION_MS;
  const decidedBy =
    evaluatorName === undefined ? undefined : { evaluator: evaluatorName, path: selectorPath ?? '*' };
  return (
    <>
      <p className="muted">
        Version {version.versionNum}, of <TimeText time={version.createdAt} isExact />
        {isCurrent ? (
          ', which is still the current one.'
        ) : (
          <>
            . The control has changed since:{' '}
            <Link href={comparisonAddress(controlId, version.versionNum, newest)}>
              compare with version {newest}
            </Link>
            .
          </>
        )}
        {isRecent &&
          version.versionNum > 1 &&
          ' It was changed just before the check: a process that did not know of it yet used the version before.'}
      </p>
      <DefinitionView
        data={data}
        decidedBy={decidedBy}
        // What was changed since may have other checks.
        editedControl={mayChange && isCurrent && data.template === undefined ? controlId : undefined}
      />
    </>
  );
}

/** Versions have no revision, so that the time decides. Versions of deleted controls are kept. */
async function findVersion(controlId: number, timeMs: number): Promise<VersionAtCheck> {
  const newest = await newestVersion(controlId);
  const timeOf = async (versionNum: number): Promise<number> => {
    const page = await client.listControlVersions({ controlId, limit: 1, cursor: String(versionNum + 1) });
    return Date.parse(page.versions[0]?.createdAt ?? '');
  };
  const versionNum = await versionAt(timeMs, newest, timeOf);
  if (versionNum === undefined) return { newest };
  return { version: await client.getControlVersion({ controlId, versionNum }), newest };
}

/** 0 if there never was such a control: clients may report events of any. */
async function newestVersion(controlId: number): Promise<number> {
  try {
    const { versions } = await client.listControlVersions({ controlId, limit: 1 });
    return versions[0]?.versionNum ?? 0;
  } catch (error) {
    if (ConnectError.from(error).code === Code.NotFound) return 0;
    throw error;
  }
}
