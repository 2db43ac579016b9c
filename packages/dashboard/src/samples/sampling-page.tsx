import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { SampleService, type SamplingRule } from '@gen/enforcement/v1/sample_service_pb.js';
import { useState } from 'react';
import { Link } from 'wouter';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { SelectField } from '../ui/fields/fields.js';
import { Page } from '../ui/page/page.js';
import { spanText } from '../ui/span-text.js';
import { Empty, QueryState } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import { NewRule } from './new-rule.js';

const MAX_NAME = 60;

/** The rules by which steps are kept, to try changes of controls with them. */
export default function SamplingPage() {
  const mayWrite = useMay('samples.write');
  const query = useQuery(SampleService.method.listSamplingRules, {});
  return (
    <Page
      title="Samples"
      actions={mayWrite && query.data !== undefined && <NewRule isEncrypted={query.data.encrypted} />}
    >
      <p className="muted">
        Samples are steps that agents really asked about, with what was decided. Changes of controls are tried
        with them before they are saved. Nothing is kept without a rule; secrets and personal data are masked
        before anything is stored.
      </p>
      <QueryState query={query} what="sampling rules">
        {({ rules, encrypted }) => (
          <>
            <Table
              label="Sampling rules"
              columns={COLUMNS}
              rows={rules}
              keyOf={({ ruleId }) => ruleId}
              empty={
                <Empty title="No step is kept">
                  <p>A rule keeps a share of the steps of all agents, of one, or of one control.</p>
                </Empty>
              }
            />
            <p className="muted">
              {encrypted
                ? 'Samples are encrypted.'
                : 'Samples are not encrypted: the service has no key for them.'}
            </p>
          </>
        )}
      </QueryState>
    </Page>
  );
}

const COLUMNS: Columns<SamplingRule> = [
  { head: 'Rule', cell: ({ ruleId }) => ruleId },
  { head: 'Keeps the steps', cell: (rule) => <Selected rule={rule} /> },
  { head: 'Share', cell: ({ share }) => shareText(share) },
  { head: 'For', cell: ({ retentionHours }) => spanText(retentionHours * 3_600) },
  { head: 'Masked besides', cell: (rule) => <Masks rule={rule} /> },
  { head: 'Samples', className: 'number', cell: ({ sampleCount }) => sampleCount.toLocaleString() },
  {
    head: 'Left out',
    className: 'number',
    cell: ({ droppedSamples }) => droppedSamples.toLocaleString(),
  },
  {
    head: 'Ends',
    cell: ({ endsAt }) => (endsAt === undefined ? 'never' : <TimeText time={isoOf(endsAt)} />),
  },
  {
    head: 'Created',
    cell: ({ createdAt }) => <TimeText time={createdAt && isoOf(createdAt)} />,
  },
  { head: 'By', cell: ({ createdBy }) => <UserText text={createdBy} max={MAX_NAME} /> },
  { head: 'Delete', isHeadHidden: true, cell: (rule) => <DeleteRule rule={rule} /> },
];

function isoOf(time: Timestamp): string {
  return timestampDate(time).toISOString();
}

/** A share as percent: small ones have as many digits as they need. */
function shareText(share: number): string {
  return `${(share * 100).toLocaleString(undefined, { maximumSignificantDigits: 4 })}%`;
}

interface OfRule {
  readonly rule: SamplingRule;
}

function Selected({ rule: { agentName, controlId } }: OfRule) {
  return (
    <>
      {agentName === undefined ? 'of all agents' : <UserText text={`of ${agentName}`} max={MAX_NAME} />}
      {controlId !== undefined && (
        <>
          {' that '}
          <Link href={`/controls/${controlId}`}>control {controlId}</Link> checks
        </>
      )}
    </>
  );
}

function Masks({ rule: { maskedPaths, maskedPatterns } }: OfRule) {
  const all = [...maskedPaths, ...maskedPatterns];
  if (all.length === 0) return <span className="muted">nothing</span>;
  return (
    <code>
      <UserText text={all.join(', ')} max={MAX_NAME} />
    </code>
  );
}

function DeleteRule({ rule }: OfRule) {
  const mayWrite = useMay('samples.write');
  const [samples, setSamples] = useState('keep');
  const remove = useChange(SampleService.method.deleteSamplingRule);
  if (!mayWrite) return null;
  return (
    <ConfirmButton
      verb="Delete"
      object={`sampling rule ${rule.ruleId}`}
      label="Delete…"
      change={remove}
      onConfirm={() => remove.mutateAsync({ ruleId: rule.ruleId, deleteSamples: samples === 'delete' })}
    >
      <p>No further step is kept by it.</p>
      <SelectField label="Its samples" options={REMAINS} value={samples} onChange={setSamples} />
    </ConfirmButton>
  );
}

const REMAINS = [
  ['keep', 'are kept for their time'],
  ['delete', 'are deleted at once'],
] as const;
