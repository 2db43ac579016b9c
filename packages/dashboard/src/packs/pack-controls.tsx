import { Stage } from '@gen/enforcement/v1/control_pb.js';
import type { PackCase, PackControl } from '@gen/enforcement/v1/pack_service_pb.js';
import { JsonView } from '../code/json-view.js';
import { definitionJson } from '../control-parts/definition-json.js';
import { DefinitionView } from '../control-parts/definition-view.js';
import { Disclosure } from '../ui/disclosure.js';
import { numberOf } from '../ui/numbers.js';
import { UserText } from '../ui/user-text.js';
import { PackText, Reference } from './pack-parts.js';
import { stepText } from './step-text.js';

/** The controls of a pack: why each is there, what it checks, and some of its cases. */
export function PackControls({ controls }: { readonly controls: readonly PackControl[] }) {
  return (
    <ul className="pack-controls">
      {controls.map((control) => (
        <li key={control.key} className="card">
          <ControlOfPack control={control} />
        </li>
      ))}
    </ul>
  );
}

function ControlOfPack({ control }: { readonly control: PackControl }) {
  const { key, title, reason, references, data, matchingCases, otherCases, examples } = control;
  return (
    <>
      <h2>
        <UserText text={title} max={120} /> <code className="muted">{key}</code>
      </h2>
      <PackText text={reason} />
      {references.length > 0 && (
        <p className="pack-tags">
          {references.map((reference) => (
            <Reference key={reference} reference={reference} />
          ))}
        </p>
      )}
      {data !== undefined && (
        <Disclosure summary="Definition">
          <DefinitionView data={data} />
          <Disclosure summary="As JSON">
            <JsonView text={definitionJson(data)} label={`Definition of ${key} as JSON`} />
          </Disclosure>
        </Disclosure>
      )}
      <Disclosure
        summary={`${numberOf(matchingCases, 'case')} that it matches, ${otherCases.toLocaleString()} that it does not`}
      >
        <ul className="pack-cases">
          {examples.map((example, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: cases have no other identity and never move
            <li key={index}>
              <ExampleCase example={example} />
            </li>
          ))}
        </ul>
        {examples.length < matchingCases + otherCases && (
          <p className="muted">
            {matchingCases + otherCases - examples.length} more cases are in the files of the pack.
          </p>
        )}
      </Disclosure>
    </>
  );
}

function ExampleCase({ example: { name, step, stage, matches } }: { readonly example: PackCase }) {
  return (
    <>
      {matches ? (
        <span className="result true">✓ matches</span>
      ) : (
        <span className="result false">✗ does not match</span>
      )}{' '}
      {name !== '' && <UserText text={name} max={120} />}{' '}
      <span className="muted">
        {step?.type} {step?.name}, {stage === Stage.POST ? 'after it has run' : 'before it runs'}
      </span>
      <pre className="code" dir="ltr">
        {stepText(step)}
      </pre>
    </>
  );
}
