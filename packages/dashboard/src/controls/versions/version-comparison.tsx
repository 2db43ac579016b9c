import { useQuery } from '@connectrpc/connect-query';
import {
  ControlService,
  type GetControlResponse,
  type GetControlVersionResponse,
} from '@gen/enforcement/v1/control_service_pb.js';
import type { Ref } from 'react';
import { JsonDifference } from '../../code/json-difference.js';
import { memberChanges } from '../../control-parts/definition-changes.js';
import { SelectField } from '../../ui/fields/fields.js';
import { numberOf } from '../../ui/numbers.js';
import { QueryState } from '../../ui/states.js';
import { ChangeList } from './change-list.js';
import { type Restored, RestoreVersion } from './restore-version.js';
import { versionJson, versionValue } from './version-value.js';

interface VersionComparisonProps {
  readonly controlId: number;
  /** Absent if the control is deleted. */
  readonly control: GetControlResponse | undefined;
  readonly from: number;
  readonly to: number;
  /** Numbers of the versions that can be chosen. */
  readonly choices: readonly number[];
  readonly onChoose: (side: 'from' | 'to', versionNum: string) => void;
  readonly onClose: () => void;
  readonly onRestored: (restored: Restored) => void;
  readonly headingRef: Ref<HTMLHeadingElement>;
}

/** The differences of two versions: as a list of members, and beside each other. */
export function VersionComparison(props: VersionComparisonProps) {
  const { controlId, from, to, choices, onChoose, onClose, headingRef } = props;
  const before = useQuery(ControlService.method.getControlVersion, { controlId, versionNum: from });
  const after = useQuery(ControlService.method.getControlVersion, { controlId, versionNum: to });
  const options = [...new Set([...choices, from, to])]
    .sort((a, b) => b - a)
    .map((versionNum) => [String(versionNum), `version ${versionNum}`] as const);
  return (
    <section className="comparison" aria-label="Comparison">
      <h2 ref={headingRef} tabIndex={-1}>
        Version {from} compared with version {to}
      </h2>
      <div className="filters">
        <SelectField
          label="Before"
          value={String(from)}
          options={options}
          onChange={(value) => onChoose('from', value)}
        />
        <SelectField
          label="After"
          value={String(to)}
          options={options}
          onChange={(value) => onChoose('to', value)}
        />
        <button type="button" onClick={onClose}>
          Close the comparison
        </button>
      </div>
      <QueryState query={before} what={`version ${from}`}>
        {(old) => (
          <QueryState query={after} what={`version ${to}`}>
            {(next) => <Differences {...props} old={old} next={next} />}
          </QueryState>
        )}
      </QueryState>
    </section>
  );
}

interface DifferencesProps extends VersionComparisonProps {
  readonly old: GetControlVersionResponse;
  readonly next: GetControlVersionResponse;
}

function Differences({ control, from, to, old, next, onRestored }: DifferencesProps) {
  if (old.snapshot === undefined || next.snapshot === undefined) return null;
  const changes = memberChanges(versionValue(old.snapshot), versionValue(next.snapshot));
  const labels = [`Version ${from}`, `Version ${to}`] as const;
  return (
    <>
      {control !== undefined && (
        <p className="links">
          <RestoreVersion
            control={control}
            versionNum={from}
            snapshot={old.snapshot}
            onRestored={onRestored}
          />
          <RestoreVersion
            control={control}
            versionNum={to}
            snapshot={next.snapshot}
            onRestored={onRestored}
          />
        </p>
      )}
      <p role="status">
        {changes.length === 0
          ? 'Name and definition are the same.'
          : `${numberOf(changes.length, 'member')} of name and definition ${changes.length === 1 ? 'differs' : 'differ'}.`}
      </p>
      {changes.length > 0 && (
        <>
          <ChangeList changes={changes} label="Changed members" />
          <JsonDifference
            before={versionJson(old.snapshot)}
            after={versionJson(next.snapshot)}
            labels={labels}
          />
        </>
      )}
    </>
  );
}
