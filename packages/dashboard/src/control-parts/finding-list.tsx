import type { Finding } from '@gen/enforcement/v1/evaluation_service_pb.js';
import { Disclosure } from '../ui/disclosure.js';
import { numberOf } from '../ui/numbers.js';
import { foundText } from './selected-text.js';
import { useTriedStep } from './tried-step.js';

const OPEN_AT_FIRST = 12;

interface FindingListProps {
  readonly findings: readonly Finding[];
  readonly selectorPath: string;
}

/** What a detector found, and where. The texts are those of the tried step, where there is one. */
export function FindingList({ findings, selectorPath }: FindingListProps) {
  if (findings.length === 0) return null;
  return (
    <Disclosure
      className="findings"
      summary={numberOf(findings.length, 'finding')}
      isOpenAtFirst={findings.length <= OPEN_AT_FIRST}
    >
      <ul>
        {findings.map((finding, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: findings have no other identity and never move
          <FindingItem key={index} finding={finding} selectorPath={selectorPath} />
        ))}
      </ul>
    </Disclosure>
  );
}

interface FindingItemProps {
  readonly finding: Finding;
  readonly selectorPath: string;
}

function FindingItem({ finding, selectorPath }: FindingItemProps) {
  const step = useTriedStep();
  const { kind, path, inName, start, end, score } = finding;
  const text = foundText(step, selectorPath, finding);
  return (
    <li>
      <strong>{kind.replaceAll('_', ' ')}</strong>{' '}
      <span className="muted">
        {inName ? 'in the name ' : ''}at <code dir="ltr">{placeText(selectorPath, path)}</code>, characters{' '}
        {start} to {end}, score {scoreText(score)}
      </span>
      {text !== undefined && (
        <p className="found-text" dir="auto">
          {text.before}
          <mark>{text.found}</mark>
          {text.after}
        </p>
      )}
    </li>
  );
}

/** The place in the step, for example `input /to/0`. */
function placeText(selectorPath: string, pointer: string): string {
  const selected = selectorPath === '*' || selectorPath === '' ? 'step' : selectorPath;
  return pointer === '' ? selected : `${selected} ${pointer}`;
}

/** A score or confidence with two digits, without zeros at the end. */
export function scoreText(score: number): string {
  return String(Math.round(score * 100) / 100);
}
