import { useState } from 'react';
import { stepFragment } from '../references/step-link.js';
import { CopyButton } from '../ui/copy-button.js';

interface LinkPanelProps {
  readonly agentName: string;
  readonly stage: 'pre' | 'post';
  readonly step: string;
}

/** Copies the address of the playground. It has the content of the step only if the viewer wants that. */
export function LinkPanel({ agentName, stage, step }: LinkPanelProps) {
  const [withStep, setWithStep] = useState(false);
  const parameters = new URLSearchParams({ agent: agentName, ...(stage === 'post' ? { stage } : {}) });
  const fragment = withStep ? stepFragment(step) : '';
  return (
    <div className="links">
      <CopyButton
        label="Copy link"
        text={`${window.location.origin}${window.location.pathname}?${parameters}${fragment ?? ''}`}
      />
      <label className="links">
        <input
          type="checkbox"
          className="check"
          checked={withStep}
          onChange={(event) => setWithStep(event.target.checked)}
        />
        with the content of the step
      </label>
      {fragment === null && <span className="problem">The step is too long for a link.</span>}
    </div>
  );
}
