import { timestampDate } from '@bufbuild/protobuf/wkt';
import { Stage } from '@gen/enforcement/v1/control_pb.js';
import type {
  PackControl,
  PackControlPreview,
  PackStepResult,
  PreviewPackResponse,
} from '@gen/enforcement/v1/pack_service_pb.js';
import { DecisionBadge } from '../control-parts/decision-badge.js';
import { Disclosure } from '../ui/disclosure.js';
import { numberOf } from '../ui/numbers.js';
import type { Columns } from '../ui/table/columns.js';
import { Table } from '../ui/table/table.js';
import { TimeText } from '../ui/time-text.js';
import { UserText } from '../ui/user-text.js';
import type { TriedStep } from './preview-steps.js';

interface PreviewResultProps {
  readonly preview: PreviewPackResponse;
  readonly controls: readonly PackControl[];
  readonly tried: readonly TriedStep[];
}

/** How many recorded evaluations and registered steps are in the scope of each control, and what each says of steps. */
export function PreviewResult({ preview, controls, tried }: PreviewResultProps) {
  const { evaluations, since } = preview;
  const titles = new Map(controls.map(({ key, title }) => [key, title]));
  return (
    <>
      <p>
        {evaluations === 0n ? (
          'No evaluations were recorded'
        ) : (
          <>
            Compared with <strong>{evaluations.toLocaleString()}</strong> recorded{' '}
            {evaluations === 1n ? 'evaluation' : 'evaluations'}
          </>
        )}
        {since !== undefined && (
          <>
            {' '}
            since <TimeText time={timestampDate(since).toISOString()} isExact />
          </>
        )}
        .
      </p>
      <Table
        label="Scopes of the controls"
        columns={columnsOf(titles)}
        rows={preview.controls}
        keyOf={({ key }) => key}
      />
      {tried.length > 0 && (
        <section aria-labelledby="tried-steps">
          <h2 id="tried-steps">{tried.length === 1 ? 'The step' : 'The steps'}</h2>
          <ol className="explanations">
            {tried.map((step, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: results are in the order of the steps
              <li key={index} className="card">
                <TriedStepResult step={step} index={index} of={preview.controls} titles={titles} />
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  );
}

function columnsOf(titles: ReadonlyMap<string, string>): Columns<PackControlPreview> {
  return [
    {
      head: 'Control',
      className: 'wrapped',
      cell: ({ key }) => <UserText text={titles.get(key) ?? key} max={80} />,
    },
    {
      head: 'Evaluations',
      className: 'number',
      cell: ({ evaluationsInScope }) => evaluationsInScope.toLocaleString(),
    },
    {
      head: 'Registered steps',
      className: 'wrapped',
      cell: ({ stepsInScope, stepCount }) =>
        stepCount === 0 ? (
          <span className="muted">none</span>
        ) : (
          <Disclosure summary={numberOf(stepCount, 'step')}>
            <ul className="plain">
              {stepsInScope.map((step) => (
                <li key={step}>
                  <UserText text={step} />
                </li>
              ))}
              {stepCount > stepsInScope.length && <li>and {stepCount - stepsInScope.length} more</li>}
            </ul>
          </Disclosure>
        ),
    },
  ];
}

interface TriedStepResultProps {
  readonly step: TriedStep;
  readonly index: number;
  readonly of: readonly PackControlPreview[];
  readonly titles: ReadonlyMap<string, string>;
}

/** What the controls say about one step: those that match, and those that could not be evaluated. */
function TriedStepResult({ step, index, of, titles }: TriedStepResultProps) {
  const results = of.flatMap(({ key, results: all }) => {
    const result = all[index];
    return result === undefined ? [] : [{ key, result }];
  });
  const applying = results.filter(({ result }) => result.applies).length;
  const telling = results.filter(({ result }) => result.matched || result.failed);
  const matches = results.filter(({ result }) => result.matched).length;
  return (
    <>
      <div className="trace-head">
        <strong>
          <UserText text={step.name} />
        </strong>
        <span className="muted">{step.stage === Stage.POST ? 'after it has run' : 'before it runs'}</span>
        <span>
          {matches === 0
            ? 'No control matches.'
            : `${numberOf(matches, 'control')} of the pack ${matches === 1 ? 'matches' : 'match'}.`}
        </span>
        <span className="muted">{numberOf(applying, 'control')} in scope</span>
      </div>
      {telling.length > 0 && (
        <ul className="plain">
          {telling.map(({ key, result }) => (
            <li key={key}>
              <ResultSign result={result} /> <UserText text={titles.get(key) ?? key} max={80} />
              {result.message !== undefined && (
                <span className="muted" dir="auto">
                  {' '}
                  {result.message}
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function ResultSign({ result }: { readonly result: PackStepResult }) {
  return result.failed ? <DecisionBadge sign="error" /> : <DecisionBadge sign="observe" />;
}
