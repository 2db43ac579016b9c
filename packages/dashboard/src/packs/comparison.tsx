import { useQuery } from '@connectrpc/connect-query';
import {
  type ComparePackInstallationResponse,
  PackChange,
  type PackInstallation,
  PackService,
  type UpdatePackInstallationResponse,
} from '@gen/enforcement/v1/pack_service_pb.js';
import { useState } from 'react';
import { useChange } from '../data/use-change.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { numberOf } from '../ui/numbers.js';
import { QueryState } from '../ui/states.js';
import { ComparedControl } from './compared-control.js';

interface ComparisonProps {
  readonly installation: PackInstallation;
  readonly mayChange: boolean;
  readonly onUpdated: (updated: UpdatePackInstallationResponse) => void;
}

/** An installation beside the pack as it is now: what an update would change, and what it would keep. */
export function Comparison({ installation, mayChange, onUpdated }: ComparisonProps) {
  const { installationId } = installation;
  const query = useQuery(PackService.method.comparePackInstallation, { installationId }, { staleTime: 0 });
  return (
    <section aria-label="Comparison with the pack" className="stack">
      <QueryState query={query} what="the comparison">
        {(comparison) => <Compared comparison={comparison} mayChange={mayChange} onUpdated={onUpdated} />}
      </QueryState>
    </section>
  );
}

interface ComparedProps extends Omit<ComparisonProps, 'installation'> {
  readonly comparison: ComparePackInstallationResponse;
}

function Compared({ comparison: { installation, controls }, mayChange, onUpdated }: ComparedProps) {
  const [overwritten, setOverwritten] = useState<ReadonlySet<string>>(new Set());
  const update = useChange(PackService.method.updatePackInstallation, onUpdated);
  if (installation === undefined) return null;
  const { installationId, currentVersion } = installation;
  const conflicts = controls.filter(({ change }) => change === PackChange.CONFLICT);
  const overwrite = conflicts.map(({ key }) => key).filter((key) => overwritten.has(key));
  const count = (change: PackChange): number => controls.filter((one) => one.change === change).length;
  const choose = (key: string, isChosen: boolean): void => {
    const next = new Set(overwritten);
    if (isChosen) next.add(key);
    else next.delete(key);
    setOverwritten(next);
  };
  const canUpdate = currentVersion !== undefined && currentVersion !== installation.version;
  return (
    <>
      <p role="status">
        {canUpdate
          ? `An update to version ${currentVersion} would change ${numberOf(count(PackChange.UPDATE), 'control')}, add ${count(PackChange.ADD)}, remove ${count(PackChange.REMOVE)}, and find ${numberOf(conflicts.length, 'conflict')}.`
          : currentVersion === undefined
            ? 'There is no pack to compare with: the controls stay as they are.'
            : `The installation has the version of the pack, ${currentVersion}.`}
      </p>
      <ul className="pack-controls">
        {controls.map((control) => (
          <li key={control.key}>
            <ComparedControl
              control={control}
              isOverwritten={overwritten.has(control.key)}
              onOverwrite={
                mayChange && canUpdate && control.change === PackChange.CONFLICT
                  ? (isChosen) => choose(control.key, isChosen)
                  : undefined
              }
            />
          </li>
        ))}
      </ul>
      {mayChange && canUpdate && (
        <div className="links">
          <ConfirmButton
            verb="Update"
            object={`to version ${currentVersion}`}
            label={`Update to version ${currentVersion}…`}
            change={update}
            onConfirm={() =>
              update
                .mutateAsync({ installationId, version: currentVersion, overwrite })
                .then(() => setOverwritten(new Set()))
            }
          >
            <p>
              Members that were changed here are kept
              {overwrite.length === 0
                ? '.'
                : `, but for ${overwrite.join(', ')}: changes made here are lost.`}{' '}
              All controls are changed, or none. Earlier versions of each can be restored on its page.
            </p>
          </ConfirmButton>
        </div>
      )}
    </>
  );
}
