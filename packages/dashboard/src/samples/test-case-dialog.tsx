import type { GetSampleResponse } from '@gen/enforcement/v1/sample_service_pb.js';
import { useState } from 'react';
import { CopyButton } from '../ui/copy-button.js';
import { Dialog } from '../ui/dialog.js';
import { SelectField } from '../ui/fields/fields.js';
import { numberOf } from '../ui/numbers.js';
import { testCaseText, type Wanted } from './test-case-text.js';

interface TestCaseDialogProps {
  readonly sample: GetSampleResponse;
  readonly agentName: string;
  readonly matched: readonly string[];
  readonly onClose: () => void;
}

/** A recorded step as a case of a suite, to be copied to a file. */
export function TestCaseDialog({ sample, agentName, matched, onClose }: TestCaseDialogProps) {
  const [wanted, setWanted] = useState<Wanted>('same');
  const masked = sample.sample?.maskedValues ?? 0;
  const text = testCaseText({ sample, agentName, matched, wanted });
  return (
    <Dialog
      title="Make it a test case"
      onClose={onClose}
      actions={
        <button type="button" onClick={onClose}>
          Close
        </button>
      }
    >
      <p>
        Save it as a file with a name that ends in <code>.test.yaml</code> beside the controls, and run it
        with <code>control-enforcement test</code>.
      </p>
      {matched.length > 0 && (
        <SelectField
          label="The match is"
          options={WANTED}
          value={wanted}
          onChange={(value) => setWanted(value === 'allow' ? 'allow' : 'same')}
        />
      )}
      {masked > 0 && (
        <p className="notice">
          {numberOf(masked, 'value')} of the step {masked === 1 ? 'is' : 'are'} masked, so that it may get
          another verdict than the original.
        </p>
      )}
      <textarea readOnly rows={10} value={text} aria-label="Test case" spellCheck={false} />
      <CopyButton label="Copy" text={text} />
    </Dialog>
  );
}

const WANTED = [
  ['same', 'right: the step is expected to be decided as it was'],
  ['allow', 'a false positive: the step is expected to be allowed'],
] as const;
