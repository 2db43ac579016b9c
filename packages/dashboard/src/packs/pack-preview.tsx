import { useMutation } from '@connectrpc/connect-query';
import { Stage } from '@gen/enforcement/v1/control_pb.js';
import { type PackControl, PackService, type PackSummary } from '@gen/enforcement/v1/pack_service_pb.js';
import { type FormEvent, useId, useState } from 'react';
import { AgentField } from '../references/agent-field.js';
import { SelectField } from '../ui/fields/fields.js';
import { ErrorState } from '../ui/states.js';
import { PreviewResult } from './preview-result.js';
import { MAX_STEPS, readSteps, type TriedStep } from './preview-steps.js';

const DAYS = [1, 7, 14, 30].map((days) => [String(days), days === 1 ? '1 day' : `${days} days`] as const);
const STAGES = [
  ['pre', 'pre: before the step'],
  ['post', 'post: after the step'],
] as const;
const MAX_FILE_BYTES = 4 * 1024 * 1024;

interface PackPreviewProps {
  readonly pack: PackSummary;
  readonly controls: readonly PackControl[];
}

/** What the controls of a pack would check: recorded evaluations by their scopes, and steps that are given here. */
export function PackPreview({ pack, controls }: PackPreviewProps) {
  const id = useId();
  const [days, setDays] = useState('7');
  const [agent, setAgent] = useState('');
  const [stage, setStage] = useState('pre');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [tried, setTried] = useState<readonly TriedStep[]>([]);
  const preview = useMutation(PackService.method.previewPack);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    try {
      const steps = readSteps(text, stage === 'post' ? Stage.POST : Stage.PRE);
      const name = agent.trim();
      setProblem(null);
      setTried(steps);
      preview.mutate({
        packName: pack.name,
        days: Number(days),
        steps: steps.map((one) => ({ step: one.step, stage: one.stage })),
        ...(name === '' ? {} : { agentName: name }),
      });
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const openFile = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    if (file.size > MAX_FILE_BYTES) setProblem('The file is larger than 4 MiB.');
    else setText(await file.text());
  };
  return (
    <div className="columns">
      <form className="card playground" onSubmit={submit} aria-label="Preview">
        <p>
          Recorded events have no content of steps. So this counts the recorded evaluations that the scope of
          each control includes, and evaluates conditions for the steps below only. Nothing is recorded.
        </p>
        <div className="filters">
          <SelectField label="Recorded in the last" value={days} options={DAYS} onChange={setDays} />
          <AgentField value={agent} onChange={setAgent} />
        </div>
        <div className="field">
          <label htmlFor={id}>Steps to try, as JSON</label>
          <textarea
            id={id}
            rows={8}
            spellCheck={false}
            placeholder='{"type": "tool", "name": "send_mail", "input": {"text": "…"}}'
            value={text}
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? `${id}-hint` : `${id}-problem`}
            onChange={(event) => setText(event.target.value)}
          />
          <p id={`${id}-hint`} className="muted">
            One step, a list of up to {MAX_STEPS}, or a file of test cases of the playground. May be left
            blank.
          </p>
          {problem !== null && (
            <p id={`${id}-problem`} className="problem" role="alert">
              {problem}
            </p>
          )}
        </div>
        <div className="filters">
          <SelectField label="Stage, if a step has none" value={stage} options={STAGES} onChange={setStage} />
          <div className="field">
            <label htmlFor={`${id}-file`}>From a file</label>
            <input
              id={`${id}-file`}
              type="file"
              accept=".json,application/json"
              onChange={(event) => void openFile(event.target.files?.[0])}
            />
          </div>
        </div>
        <button type="submit" className="primary" disabled={preview.isPending}>
          {preview.isPending ? 'Comparing…' : 'Preview'}
        </button>
      </form>
      <section className="stack" aria-label="Result of the preview" aria-live="polite">
        {preview.error !== null && <ErrorState error={preview.error} />}
        {preview.data !== undefined && (
          <PreviewResult preview={preview.data} controls={controls} tried={tried} />
        )}
        {preview.data === undefined && preview.error === null && (
          <p className="muted">What the controls would have checked appears here.</p>
        )}
      </section>
    </div>
  );
}
