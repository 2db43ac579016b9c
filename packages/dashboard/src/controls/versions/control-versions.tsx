import { useInfiniteQuery } from '@connectrpc/connect-query';
import { ControlService, type GetControlResponse } from '@gen/enforcement/v1/control_service_pb.js';
import { useEffect, useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { comparisonAddress } from '../../control-parts/comparison-address.js';
import { BY_CURSOR } from '../../data/by-cursor.js';
import { LoadMore } from '../../ui/list/load-more.js';
import { useAddressFilter } from '../../ui/page/use-address-filter.js';
import { Empty, QueryState } from '../../ui/states.js';
import { Warnings } from '../../ui/warnings.js';
import type { Restored } from './restore-version.js';
import { VersionComparison } from './version-comparison.js';
import { VersionEntry } from './version-entry.js';

const PAGE_SIZE = 20;

interface ControlVersionsProps {
  readonly controlId: number;
  /** Absent if the control is deleted; then nothing can be restored. */
  readonly control: GetControlResponse | undefined;
}

/** The versions of a control, latest first, and the comparison of two of them. */
export function ControlVersions({ controlId, control }: ControlVersionsProps) {
  const { get, set } = useAddressFilter();
  const [, open] = useLocation();
  const [restored, setRestored] = useState<Restored | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const wantsFocus = useRef(false);
  const [from, to] = [versionOf(get('from')), versionOf(get('to'))];
  const query = useInfiniteQuery(
    ControlService.method.listControlVersions,
    { controlId, cursor: undefined, limit: PAGE_SIZE },
    BY_CURSOR,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heading is new when the versions are others
  useEffect(() => {
    if (wantsFocus.current) heading.current?.focus();
    wantsFocus.current = false;
  }, [from, to]);
  const onRestored = (done: Restored): void => {
    setRestored(done);
    wantsFocus.current = true;
    open(comparisonAddress(controlId, done.newVersionNum - 1, done.newVersionNum));
  };
  return (
    <QueryState query={query} what="versions">
      {({ pages }) => {
        const versions = pages.flatMap((page) => page.versions);
        const newest = versions[0]?.versionNum;
        if (newest === undefined) return <Empty title="No version is stored" />;
        return (
          <>
            {restored !== null && (
              <>
                <p className="success" role="status">
                  Version {restored.newVersionNum} is now current and has the content of version{' '}
                  {restored.versionNum}.
                </p>
                <Warnings warnings={restored.warnings} />
              </>
            )}
            {from !== undefined && to !== undefined && (
              <VersionComparison
                controlId={controlId}
                control={control}
                from={from}
                to={to}
                choices={versions.map(({ versionNum }) => versionNum)}
                onChoose={set}
                onClose={() => open(`/controls/${controlId}?tab=versions`)}
                onRestored={onRestored}
                headingRef={heading}
              />
            )}
            <ol className="timeline">
              {versions.map((version) => (
                <VersionEntry
                  key={version.versionNum}
                  controlId={controlId}
                  control={control}
                  version={version}
                  newest={newest}
                  onCompare={() => {
                    wantsFocus.current = true;
                  }}
                  onRestored={onRestored}
                />
              ))}
            </ol>
            <LoadMore {...query} shown={versions.length} total={pages[0]?.pagination?.total ?? 0} />
          </>
        );
      }}
    </QueryState>
  );
}

function versionOf(text: string): number | undefined {
  return /^[1-9]\d{0,8}$/.test(text) ? Number(text) : undefined;
}
