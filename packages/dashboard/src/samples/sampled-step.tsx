import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { Stage } from '@gen/enforcement/v1/control_pb.js';
import { type GetSampleResponse, SampleService } from '@gen/enforcement/v1/sample_service_pb.js';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { transport } from '../data/transport.js';
import { stepFragment } from '../references/step-link.js';
import { useMay } from '../session/session-context.js';
import { Problem } from '../ui/states.js';
import { TestCaseDialog } from './test-case-dialog.js';

const samples = createClient(SampleService, transport);

interface SampledStepProps {
  readonly decisionId: string;
  readonly agentName: string;
  /** Names of the controls that matched. */
  readonly matched: readonly string[];
}

type Found =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'missing' }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'case'; readonly sample: GetSampleResponse };

/** What can be done with a recorded step if a sample of it was kept. Nothing for callers that may not read samples. */
export function SampledStep({ decisionId, agentName, matched }: SampledStepProps) {
  const mayRead = useMay('samples.read');
  const [, navigate] = useLocation();
  const [found, setFound] = useState<Found>({ kind: 'nothing' });
  const [isLooking, setLooking] = useState(false);
  if (!mayRead) return null;

  const withSample = (use: (sample: GetSampleResponse) => void): void => {
    setLooking(true);
    setFound({ kind: 'nothing' });
    samples
      .getSample({ decisionId })
      .then(use)
      .catch((error) => {
        const isMissing = ConnectError.from(error).code === Code.NotFound;
        setFound(isMissing ? { kind: 'missing' } : { kind: 'failed', error });
      })
      .finally(() => setLooking(false));
  };
  const tryIt = ({ sample, stepJson }: GetSampleResponse): void => {
    const stage = sample?.stage === Stage.POST ? 'post' : 'pre';
    const fragment = stepFragment(indented(stepJson), Number.POSITIVE_INFINITY) ?? '';
    navigate(`/playground?${new URLSearchParams({ agent: agentName, stage })}${fragment}`);
  };
  return (
    <div className="sampled-step">
      <p className="links">
        <button type="button" disabled={isLooking} onClick={() => withSample(tryIt)}>
          Try this step
        </button>
        <button
          type="button"
          disabled={isLooking}
          onClick={() => withSample((sample) => setFound({ kind: 'case', sample }))}
        >
          Make it a test case
        </button>
      </p>
      <div role="status">
        {found.kind === 'missing' && (
          <p className="notice">
            No sample of this step was kept, and events hold no content of steps.{' '}
            <Link href={`/samples?agent=${encodeURIComponent(agentName)}`}>Keep samples</Link> of this agent,
            and later steps can be tried.
          </p>
        )}
      </div>
      {found.kind === 'failed' && <Problem error={found.error} />}
      {found.kind === 'case' && (
        <TestCaseDialog
          sample={found.sample}
          agentName={agentName}
          matched={matched}
          onClose={() => setFound({ kind: 'nothing' })}
        />
      )}
    </div>
  );
}

/** The text with lines, if it is as precise that way. */
function indented(json: string): string {
  const lines = JSON.stringify(JSON.parse(json), null, 2);
  return JSON.stringify(JSON.parse(lines)) === json ? lines : json;
}
