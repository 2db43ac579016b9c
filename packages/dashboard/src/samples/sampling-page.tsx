import { timestampDate } from '@bufbuild/protobuf/wkt';
import { useQuery } from '@connectrpc/connect-query';
import { SampleService, type SamplingRule } from '@gen/enforcement/v1/sample_service_pb.js';
import { type FormEvent, useId, useState } from 'react';
import { useChange } from '../data/use-change.js';
import { useMay } from '../session/session-context.js';
import { ConfirmButton } from '../ui/confirm-button.js';
import { Dialog } from '../ui/dialog.js';
import { SelectField, TextField } from '../ui/fields/fields.js';
import { Page } from '../ui/page/page.js';
import { useAddressFilter } from '../ui/page/use-address-filter.js';
import { Empty, Problem, QueryState } from '../ui/states.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';

const MAX_NAME = 60;

/** The rules by which steps are kept, to try changes of controls with them. */
export default function SamplingPage() {
  const mayWrite = useMay('samples.write');
  const query = useQuery(SampleService.method.listSamplingRules, {});
  return (
    <Page title="Samples" actions={mayWrite && <NewRule />}>
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
  { head: 'Keeps the steps', cell: (rule) => <UserText text={selectedText(rule)} max={MAX_NAME} /> },
  { head: 'Share', cell: ({ share }) => `${(share * 100).toLocaleString()}%` },
  { head: 'For', cell: ({ retentionHours }) => `${retentionHours.toLocaleString()} hours` },
  { head: 'Samples', cell: ({ sampleCount }) => sampleCount.toLocaleString() },
  {
    head: 'Created',
    cell: ({ createdAt }) => <TimeText time={createdAt && timestampDate(createdAt).toISOString()} />,
  },
  { head: 'By', cell: ({ createdBy }) => <UserText text={createdBy} max={MAX_NAME} /> },
  { head: 'Delete', isHeadHidden: true, cell: (rule) => <DeleteRule rule={rule} /> },
];

function selectedText({ agentName, controlId }: SamplingRule): string {
  const ofAgent = agentName === undefined ? 'of all agents' : `of ${agentName}`;
  return controlId === undefined ? ofAgent : `${ofAgent} that control ${controlId} is asked about`;
}

function DeleteRule({ rule }: { readonly rule: SamplingRule }) {
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

/** The dialog is open at once if the address names what to keep. */
function NewRule() {
  const { get } = useAddressFilter();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        New rule
      </button>
      {isOpen && <NewRuleDialog agentName={get('agent')} onClose={() => setOpen(false)} />}
    </>
  );
}

interface NewRuleDialogProps {
  readonly agentName: string;
  readonly onClose: () => void;
}

function NewRuleDialog({ agentName, onClose }: NewRuleDialogProps) {
  const form = useId();
  const [agent, setAgent] = useState(agentName);
  const [share, setShare] = useState('0.01');
  const [hours, setHours] = useState('168');
  const [paths, setPaths] = useState('');
  const create = useChange(SampleService.method.createSamplingRule, onClose);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({
      ...(agent.trim() === '' ? {} : { agentName: agent }),
      share: Number(share),
      retentionHours: Number(hours),
      maskedPaths: paths.split(/[\s,]+/).filter((path) => path !== ''),
    });
  };
  return (
    <Dialog
      title="Keep steps?"
      onClose={onClose}
      actions={
        <>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" form={form} className="primary" disabled={create.isPending}>
            Keep
          </button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit}>
        <TextField label="Agent (empty: all agents)" value={agent} onChange={setAgent} />
        <SelectField label="Share of the steps" options={SHARES} value={share} onChange={setShare} />
        <SelectField label="Kept for" options={HOURS} value={hours} onChange={setHours} />
        <TextField
          label="Paths that are always masked"
          placeholder="input.password, context.token"
          value={paths}
          onChange={setPaths}
        />
        <Problem error={create.error} />
      </form>
    </Dialog>
  );
}

const SHARES = [
  ['0.01', '1%'],
  ['0.1', '10%'],
  ['1', 'all'],
] as const;
const HOURS = [
  ['24', 'a day'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const;
